// The deflater: zlib is the judge of what it writes.
#include "codec/deflate/deflate.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

#include "support/png_in_memory.hpp"

namespace gpufilter::test {
namespace {

constexpr std::uint8_t poison = 0xA5;

struct Inflated {
  Bytes bytes;
  bool complete = false;  // the final block was there
  std::size_t rest = 0;   // of the input, behind it
};

Inflated inflated(Bytes deflated, std::size_t size) {
  Inflated result{Bytes(size + 100)};
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, -15), Z_OK);
  stream.next_in = deflated.data();
  stream.avail_in = static_cast<uInt>(deflated.size());
  stream.next_out = result.bytes.data();
  stream.avail_out = static_cast<uInt>(result.bytes.size());
  const int status = inflate(&stream, Z_SYNC_FLUSH);
  EXPECT_TRUE(status == Z_OK || status == Z_STREAM_END) << stream.msg;
  result.complete = status == Z_STREAM_END;
  result.rest = stream.avail_in;
  result.bytes.resize(stream.total_out);
  inflateEnd(&stream);
  return result;
}

Bytes deflate_by_ours(Deflater& deflater, const Bytes& data, int effort, bool last,
                      std::vector<std::size_t> likely = {}, std::size_t unit = 4) {
  Bytes out(Deflater::bound(data.size()) + 8, poison);
  const std::size_t size = deflater.deflate(data, {unit, likely}, effort, last, out.data());
  EXPECT_LE(size, Deflater::bound(data.size()));
  EXPECT_TRUE(std::all_of(out.end() - 8, out.end(), [](auto byte) { return byte == poison; }));
  out.resize(size);
  return out;
}

enum class Content { noise, extreme, uniform, repeated, text, runs };
constexpr std::array contents{Content::noise,    Content::extreme, Content::uniform,
                              Content::repeated, Content::text,    Content::runs};

Bytes make_bytes(std::size_t size, Content content, std::uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  std::size_t run = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto number = static_cast<std::uint8_t>(random() >> 11U);
    switch (content) {
      case Content::noise:
        bytes[i] = number;
        break;
      case Content::extreme:
        bytes[i] = number % 2 == 0 ? 0 : 255;
        break;
      case Content::uniform:
        bytes[i] = static_cast<std::uint8_t>(seed);
        break;
      case Content::repeated:
        bytes[i] = i < 1000 || number == 7 ? number : bytes[i - 997];
        break;
      case Content::text:
        bytes[i] = static_cast<std::uint8_t>("etaoin shrdlu"[number % 13]);
        break;
      case Content::runs:
        if (run == 0) run = random() % 700 + 1;
        --run;
        bytes[i] = static_cast<std::uint8_t>(run == 0 || i == 0 ? number : bytes[i - 1]);
        break;
    }
  }
  return bytes;
}

TEST(Deflate, WritesWhatZlibReadsBack) {
  Deflater deflater;
  std::uint32_t seed = 0;
  for (const std::size_t size :
       {1,   2,   3,   7,   8,    9,     10,    11,    12,    257,   258,
        259, 260, 266, 267, 1000, 16383, 16384, 16385, 65535, 65536, 200'000}) {
    for (const Content content : contents) {
      for (const int effort : {0, 1, 10, 300}) {
        const Bytes data = make_bytes(size, content, ++seed);
        const bool last = seed % 2 == 0;
        const Bytes deflated =
            deflate_by_ours(deflater, data, effort, last, {3, 100, 97, 103}, 3 + seed / 2 % 2);
        const Inflated back = inflated(deflated, size);
        ASSERT_TRUE(back.bytes == data)
            << size << " bytes, content " << int(content) << ", effort " << effort;
        ASSERT_EQ(back.complete, last);
        ASSERT_EQ(back.rest, 0U);
      }
    }
  }
}

// Pieces written apart are one stream: that is what makes chunks.
TEST(Deflate, WritesPiecesThatCanBeJoined) {
  Deflater deflater;
  Bytes all;
  Bytes stream;
  for (std::uint32_t i = 0; i < 30; ++i) {
    const Bytes piece = make_bytes(1 + i * 331, contents[i % contents.size()], i);
    all.insert(all.end(), piece.begin(), piece.end());
    const Bytes deflated = deflate_by_ours(deflater, piece, int(i % 4), i == 29);
    stream.insert(stream.end(), deflated.begin(), deflated.end());
  }
  const Inflated back = inflated(stream, all.size());
  EXPECT_TRUE(back.bytes == all);
  EXPECT_TRUE(back.complete);
  EXPECT_EQ(back.rest, 0U);
}

TEST(Deflate, DependsOnTheDataAlone) {
  const Bytes data = make_bytes(150'000, Content::repeated, 1);
  Deflater used;
  for (const Content content : contents)
    (void)deflate_by_ours(used, make_bytes(90'000, content, 2), 20, false, {4});
  Deflater fresh;
  EXPECT_TRUE(deflate_by_ours(used, data, 10, true) == deflate_by_ours(fresh, data, 10, true));
}

// The farthest match, and one that would be too far.
TEST(Deflate, ReachesBackAsFarAsDeflateAllows) {
  for (const std::size_t distance : {32'767U, 32'768U, 32'769U}) {
    Bytes data = make_bytes(distance, Content::noise, 3);
    data.resize(distance + 258);
    std::copy_n(data.begin(), 258, data.end() - 258);
    Deflater deflater;
    const Bytes deflated = deflate_by_ours(deflater, data, 10, true, {distance});
    EXPECT_TRUE(inflated(deflated, data.size()).bytes == data) << distance;
    if (distance <= 32'768) {
      EXPECT_LT(deflated.size(), distance + 150) << distance;
    } else {
      EXPECT_GT(deflated.size(), distance + 250) << distance;
    }
  }
}

TEST(Deflate, StoresWhatCannotBeCompressed) {
  Deflater deflater;
  const Bytes noise = make_bytes(1'000'000, Content::noise, 4);
  EXPECT_LE(deflate_by_ours(deflater, noise, 10, true).size(), 1'000'000U + 1'000'000U / 2000);
}

// Sizes, beside zlib's for the same bytes.
TEST(Deflate, FindsWhatRepeatsItself) {
  Deflater deflater;
  const Bytes uniform = make_bytes(500'000, Content::uniform, 9);
  EXPECT_LT(deflate_by_ours(deflater, uniform, 1, true).size(), 600U);
  const Bytes repeated = make_bytes(500'000, Content::repeated, 5);
  EXPECT_LT(deflate_by_ours(deflater, repeated, 10, true, {997}).size(),
            deflated(repeated, 6).size());
  std::size_t before = repeated.size();
  for (const int effort : {1, 10, 100}) {
    const std::size_t size = deflate_by_ours(deflater, repeated, effort, true).size();
    EXPECT_LE(size, before + before / 200) << effort;
    before = size;
  }
}

}  // namespace
}  // namespace gpufilter::test

// Deflated chunks that are joined to one stream; zlib checks the result.
#include "codec/deflate/deflaters.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/instruction_sets.hpp"
#include "support/png_in_memory.hpp"
#include "support/png_oracle.hpp"

namespace gpufilter::test {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20U;
constexpr std::size_t row = 997;  // of what a search is shown

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

struct Way {
  std::string name;
  std::function<std::span<const std::uint8_t>(std::span<const std::uint8_t>, bool last)> deflate;
};

// Huffman codes only, a search, and every level of libdeflate.
class Ways {
 public:
  Ways() {
    all_.push_back(
        {"Huffman", [this](auto data, bool last) { return huffman_.deflate(data, last); }});
    all_.push_back(
        {"search", [this](auto data, bool last) { return match_.deflate(data, row, last); }});
    for (const std::size_t bytes :
         {row, row - 1, row - 2, std::size_t{1}, std::size_t{5}, mebibyte}) {
      all_.push_back(
          {"pixels in rows of " + std::to_string(bytes), [this, bytes](auto data, bool last) {
             return match_.deflate_pixels(data, bytes, last);
           }});
    }
    with_loops_ = all_.size();
    for (int level = 0; level <= 12; ++level) {
      all_.push_back({"libdeflate " + std::to_string(level), [this, level](auto data, bool last) {
                        return libdeflate_.deflate(data, level, last);
                      }});
    }
  }
  [[nodiscard]] const std::vector<Way>& all() const { return all_; }
  // Those with loops for several instruction sets: not libdeflate's.
  [[nodiscard]] std::span<const Way> with_loops() const {
    return std::span(all_).first(with_loops_);
  }

 private:
  HuffmanDeflater huffman_;
  MatchDeflater match_;
  LibdeflateDeflater libdeflate_;
  std::vector<Way> all_;
  std::size_t with_loops_ = 0;
};

Bytes copy_of(std::span<const std::uint8_t> bytes) {
  return {bytes.begin(), bytes.end()};
}

// Returns how many blocks there are.
int expect_joinable(const Way& way, const Bytes& data) {
  const Inflated back = inflated(way.deflate(data, false), data.size());
  EXPECT_TRUE(back.bytes == data);
  EXPECT_FALSE(back.complete);
  EXPECT_TRUE(back.joinable);
  EXPECT_EQ(back.rest, 0U);
  return back.blocks;
}

void expect_complete(const Way& way, const Bytes& data) {
  const Inflated back = inflated(way.deflate(data, true), data.size());
  EXPECT_TRUE(back.bytes == data);
  EXPECT_TRUE(back.complete);
  EXPECT_EQ(back.rest, 0U);
}

TEST(Deflaters, WriteWhatZlibReadsBack) {
  const Ways ways;
  std::uint32_t seed = 0;
  for (const std::size_t size : {0, 1, 2, 3, 8, 13, 255, 257, 258, 259, 997, 5000, 10'000, 9'999,
                                 16'383, 65'534, 65'535, 65'536, 90'001}) {
    for (const Content content : contents) {
      const Bytes data = make_bytes(size, content, ++seed);
      for (const Way& way : ways.all()) {
        SCOPED_TRACE(way.name + ", " + std::to_string(size) + " bytes, content " +
                     std::to_string(static_cast<int>(content)));
        expect_joinable(way, data);
        expect_complete(way, data);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

// The end of a block falls on each of a byte's bits, which decides what is appended.
TEST(Deflaters, ReachAWholeByteFromEveryBit) {
  const Ways ways;
  for (std::size_t size = 20; size < 120; ++size) {
    const Bytes data = make_bytes(size, Content::text, static_cast<std::uint32_t>(size));
    for (const Way& way : ways.all())
      expect_joinable(way, data);
  }
}

// Changes of content start blocks; libdeflate also starts one after 300,000 bytes. Chunks longer
// than a MiB are deflated in pieces.
TEST(Deflaters, WriteManyBlocks) {
  const Ways ways;
  Bytes mixed;
  for (std::uint32_t i = 0; mixed.size() < 2 * mebibyte + 1; ++i) {
    const Bytes part = make_bytes(40'000 + 7919 * i, contents[i % contents.size()], i);
    mixed.insert(mixed.end(), part.begin(), part.end());
  }
  for (const std::size_t size :
       {299'999UL, 300'001UL, 600'000UL, mebibyte - 1, mebibyte, mebibyte + 1, 2 * mebibyte + 1}) {
    const Bytes data(mixed.begin(), mixed.begin() + static_cast<std::ptrdiff_t>(size));
    for (const Way& way : ways.all()) {
      SCOPED_TRACE(way.name + ", " + std::to_string(size) + " bytes");
      const int blocks = expect_joinable(way, data);
      if (way.name.starts_with("lib")) {
        EXPECT_GE(blocks, 4);
      }
      if (size == mebibyte + 1) expect_complete(way, data);
    }
  }
}

// Stored blocks of libdeflate's level 0 end on whole bytes, and noise is stored at every level.
TEST(Deflaters, StoreWhatCannotBeCompressed) {
  const Ways ways;
  for (const std::size_t size : {65'535UL, 65'536UL, 131'070UL, 131'071UL, 500'000UL}) {
    const Bytes noise = make_bytes(size, Content::noise, 4);
    for (const Way& way : ways.all()) {
      SCOPED_TRACE(way.name + ", " + std::to_string(size) + " bytes");
      expect_joinable(way, noise);
      EXPECT_LE(way.deflate(noise, false).size(), size + size / 1000 + 16);
    }
  }
}

// A code made from a sample does not suit different data: a few bytes with frequencies 1/2, 1/4,
// 1/8, ... leave the longest codes to all others.
TEST(Deflaters, StoreWhatASampleMisses) {
  HuffmanDeflater huffman;
  const Way way{"Huffman", [&](auto data, bool last) { return huffman.deflate(data, last); }};
  std::mt19937 random(7);
  for (const std::size_t size : {4095UL, 131'072UL, 131'073UL, 500'001UL}) {
    for (std::size_t place = 0; place < 4; ++place) {
      Bytes data = make_bytes(size, Content::noise, 4);
      for (std::size_t i = 0; i < size; ++i) {
        if (i % 2048 / 512 == place)
          data[i] = static_cast<std::uint8_t>(std::countr_zero(random() | 256U));
      }
      SCOPED_TRACE(std::to_string(size) + " bytes, few at " + std::to_string(place));
      expect_joinable(way, data);
      expect_complete(way, data);
      EXPECT_LE(way.deflate(data, false).size(), size + size / 1000 + 16);
    }
  }
}

// Residues of photographs: nearly as short as zlib's, without a search.
TEST(Deflaters, HuffmanCodesComeNearZlib) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 6);
  Bytes residues(400'000);
  for (std::uint8_t& residue : residues)
    residue = static_cast<std::uint8_t>(std::lround(noise(random)));
  HuffmanDeflater huffman;
  EXPECT_LT(huffman.deflate(residues, true).size(), deflated(residues, 6).size() * 101 / 100);
}

TEST(Deflaters, HuffmanCodesAreEstimated) {
  HuffmanDeflater huffman;
  for (const Content content : contents) {
    const Bytes data = make_bytes(300'000, content, 3);
    const std::size_t size = huffman.deflate(data, true).size();
    const std::size_t estimate = HuffmanDeflater::estimated_size(data);
    EXPECT_LE(estimate, size + size / 50 + 10) << static_cast<int>(content);
    EXPECT_GE(estimate + estimate / 4 + 300, size) << static_cast<int>(content);
  }
}

// Random bytes, and again after `distance` of them.
Bytes repeated_after(std::size_t distance) {
  const Bytes noise = make_bytes(distance, Content::noise, 8);
  Bytes bytes = noise;
  bytes.insert(bytes.end(), noise.begin(), noise.end());
  return bytes;
}

TEST(Deflaters, ASearchLooksBackAsFarAsDeflateCan) {
  MatchDeflater search;
  const Way way{"search", [&](auto data, bool last) { return search.deflate(data, row, last); }};
  for (const std::size_t distance : {1000UL, 32'767UL, 32'768UL}) {
    const Bytes data = repeated_after(distance);
    expect_joinable(way, data);
    EXPECT_LT(search.deflate(data, row, false).size(), distance * 11 / 10) << distance;
  }
  const Bytes too_far = repeated_after(32'769);
  expect_joinable(way, too_far);
  EXPECT_GT(search.deflate(too_far, row, false).size(), too_far.size());
}

// Bytes that were there before, at many distances and lengths, between random ones.
TEST(Deflaters, ASearchFindsWhatZlibFinds) {
  MatchDeflater search;
  const Bytes repeated = make_bytes(500'000, Content::repeated, 5);
  EXPECT_LT(search.deflate(repeated, row, true).size(), deflated(repeated, 6).size() * 21 / 20);
  std::mt19937 random(3);
  Bytes tiles(480'000);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const std::size_t far_back = 4 * (1 + random() % 2000);
    const bool copies = i >= 8000 && i % 4 == 0 && random() % 12 != 0;
    tiles[i] = static_cast<std::uint8_t>(random() % 256);
    if (!copies) continue;
    const std::size_t length = std::min<std::size_t>(4 + random() % 60, tiles.size() - i);
    for (std::size_t j = 0; j < length; ++j, ++i)
      tiles[i] = tiles[i - far_back];
    --i;
  }
  EXPECT_LT(search.deflate(tiles, row, true).size(), deflated(tiles, 6).size() * 9 / 8);
  EXPECT_GT(search.statistics().positions, tiles.size() / 100);
  EXPECT_LT(search.statistics().positions, tiles.size());
}

// Pixels of three equal bytes: Huffman codes take each byte for itself.
TEST(Deflaters, ASearchForPixelsSeesWhatChannelsHaveInCommon) {
  MatchDeflater search;
  HuffmanDeflater huffman;
  std::mt19937 random(4);
  Bytes grey;
  while (grey.size() < 100 * row) {
    if (grey.size() % row == 0) grey.push_back(0);
    const auto residue = static_cast<std::uint8_t>(random() % 2 + random() % 2 + random() % 2);
    grey.insert(grey.end(), MatchDeflater::pixel, residue);
  }
  const std::size_t size = search.deflate_pixels(grey, row, true).size();
  EXPECT_LT(size, huffman.deflate(grey, true).size() * 7 / 10);
  EXPECT_LT(search.statistics().positions, grey.size() / MatchDeflater::pixel);
  expect_joinable(
      {"pixels", [&](auto data, bool last) { return search.deflate_pixels(data, row, last); }},
      grey);
}

// Repetitions of whole pixels as far back as deflate reaches, up to the ends of rows and data.
TEST(Deflaters, ASearchForPixelsLooksBackAsFarAsDeflateCan) {
  MatchDeflater search;
  for (const std::size_t distance : {32'766UL, 32'769UL}) {
    Bytes data(1, 0);
    const Bytes repeated = repeated_after(distance);
    data.insert(data.end(), repeated.begin(), repeated.end());
    const Way way{"pixels", [&](auto bytes, bool last) {
                    return search.deflate_pixels(bytes, data.size(), last);
                  }};
    expect_joinable(way, data);
    const std::size_t size = search.deflate_pixels(data, data.size(), true).size();
    EXPECT_EQ(size < distance * 11 / 10, distance <= 32'768) << distance;
  }
}

// Chunks of all contents by all ways, in one stream.
TEST(Deflaters, WriteChunksThatCanBeJoined) {
  const Ways ways;
  Bytes all;
  Bytes stream;
  constexpr std::uint32_t count = 130;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Bytes data =
        make_bytes(i % 10 == 9 ? i / 10 : 1 + i * 1331, contents[i % contents.size()], i);
    all.insert(all.end(), data.begin(), data.end());
    const auto part = ways.all()[i % ways.all().size()].deflate(data, i + 1 == count);
    stream.insert(stream.end(), part.begin(), part.end());
  }
  const Inflated back = inflated(stream, all.size());
  EXPECT_TRUE(back.bytes == all);
  EXPECT_TRUE(back.complete);
  EXPECT_EQ(back.rest, 0U);
}

TEST(Deflaters, DependOnTheDataAlone) {
  const Bytes data = make_bytes(150'000, Content::repeated, 1);
  const Ways used;
  for (const Way& way : used.all()) {
    for (const Content content : contents)
      (void)way.deflate(make_bytes(90'000, content, 2), false);
  }
  const Ways fresh;
  for (std::size_t i = 0; i < fresh.all().size(); ++i) {
    EXPECT_TRUE(copy_of(used.all()[i].deflate(data, false)) ==
                copy_of(fresh.all()[i].deflate(data, false)))
        << fresh.all()[i].name;
  }
}

// Sizes, compared with zlib's for the same bytes.
TEST(Deflaters, MakeTheSameWithEachInstructionSet) {
  for (const Content content : contents) {
    const Bytes data = make_bytes(mebibyte, content, 5);
    const Ways ways;
    std::vector<Bytes> results;
    with_each_instruction_set([&] {
      for (const Way& way : ways.with_loops())
        results.push_back(copy_of(way.deflate(data, true)));
    });
    const std::size_t count = ways.with_loops().size();
    for (std::size_t i = 0; i < results.size(); ++i)
      EXPECT_TRUE(results[i] == results[i % count]) << ways.all()[i % count].name;
  }
}

TEST(Deflaters, FindWhatRepeatsItself) {
  LibdeflateDeflater deflater;
  const Bytes uniform = make_bytes(500'000, Content::uniform, 9);
  const Bytes repeated = make_bytes(500'000, Content::repeated, 5);
  EXPECT_GT(deflater.deflate(repeated, 0, true).size(), repeated.size());
  for (const int level : {1, 4, 6, 9, 12}) {
    EXPECT_LT(deflater.deflate(uniform, level, true).size(), 2000U) << level;
    EXPECT_LT(deflater.deflate(repeated, level, true).size(),
              deflated(repeated, 6).size() * 11 / 10)
        << level;
  }
}

}  // namespace
}  // namespace gpufilter::test

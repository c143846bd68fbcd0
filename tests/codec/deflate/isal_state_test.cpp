// The fields of ISA-L's decoder that codec/deflate/isal_state.hpp uses mean what it says they mean,
// for streams made by zlib.
#include "codec/deflate/isal_state.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <isa-l.h>
#include <zlib.h>

namespace gpufilter::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Text-like bytes: a block of them has codes of many lengths and matches.
Bytes make_data(std::size_t size) {
  Bytes data(size);
  std::uint32_t state = 1;
  for (std::uint8_t& byte : data) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::uint8_t>("etaoin shrdlu"[(state >> 24U) % 13]);
  }
  return data;
}

// Raw deflate data of the parts, each of which ends as its flush says.
Bytes deflated_parts(const std::vector<std::pair<Bytes, int>>& parts) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes result(std::size_t{1} << 20U);
  stream.next_out = result.data();
  stream.avail_out = static_cast<uInt>(result.size());
  for (auto [data, flush] : parts) {
    stream.next_in = data.data();
    stream.avail_in = static_cast<uInt>(data.size());
    EXPECT_GE(deflate(&stream, flush), Z_OK);
    EXPECT_EQ(stream.avail_in, 0U);
  }
  result.resize(result.size() - stream.avail_out);
  deflateEnd(&stream);
  return result;
}

// Where blocks end, in bits, according to zlib.
std::vector<std::size_t> block_ends(Bytes stream_bytes) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, -15), Z_OK);
  Bytes output(std::size_t{1} << 20U);
  stream.next_in = stream_bytes.data();
  stream.avail_in = static_cast<uInt>(stream_bytes.size());
  stream.next_out = output.data();
  stream.avail_out = static_cast<uInt>(output.size());
  std::vector<std::size_t> ends;
  for (int status = Z_OK; status == Z_OK;) {
    status = inflate(&stream, Z_BLOCK);
    if (status != Z_OK && status != Z_STREAM_END) break;
    if (status == Z_OK && (stream.data_type & 128) == 0) continue;
    ends.push_back(stream.total_in * 8 - static_cast<std::size_t>(stream.data_type & 7));
  }
  inflateEnd(&stream);
  return ends;
}

// Inflates `input` into `output`, and returns the decoder's state afterwards.
inflate_state state_after(Bytes& input, std::span<std::uint8_t> output) {
  inflate_state state{};
  isal_inflate_init(&state);
  state.next_in = input.data();
  state.avail_in = static_cast<std::uint32_t>(input.size());
  state.next_out = output.data();
  state.avail_out = static_cast<std::uint32_t>(output.size());
  EXPECT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);
  return state;
}

TEST(IsalState, WasCheckedForTheseVersions) {
  static const std::vector<std::pair<int, int>> checked{{2, 30}, {2, 31}};
  const std::pair version{ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION};
  EXPECT_EQ(std::count(checked.begin(), checked.end(), version), 1)
      << "ISA-L " << version.first << "." << version.second
      << ": read how igzip_inflate.c uses the fields in codec/deflate/isal_state.hpp, run all "
         "tests "
         "of codec, and add the version here";
}

TEST(IsalState, KnowsTheEndAndWhatFollowsIt) {
  for (std::size_t size = 1; size < 60; ++size) {
    const Bytes data = make_data(size);
    const Bytes stream = deflated_parts({{data, Z_FINISH}});
    for (const std::size_t excess : {0, 1, 2, 7, 8, 9, 40}) {
      Bytes input = stream;
      input.resize(stream.size() + excess, 0xA5);
      Bytes output(size + 1);
      const inflate_state state = state_after(input, output);
      EXPECT_TRUE(isal_has_ended(state));
      EXPECT_FALSE(isal_is_between_blocks(state));
      EXPECT_EQ(isal_unread_bits(state) / 8, excess) << size;
    }
    Bytes cut(stream.begin(), stream.end() - 1);
    Bytes output(size + 1);
    EXPECT_FALSE(isal_has_ended(state_after(cut, output)));
  }
}

TEST(IsalState, KnowsPlacesBetweenBlocks) {
  for (std::size_t size = 1; size < 60; ++size) {
    const Bytes data = make_data(size);
    const Bytes stream = deflated_parts({{data, Z_FULL_FLUSH}});
    Bytes output(size + 1);
    Bytes whole = stream;
    EXPECT_TRUE(isal_is_between_blocks(state_after(whole, output))) << size;
    for (std::size_t missing = 1; missing <= std::size_t{4}; ++missing) {
      Bytes cut(stream.begin(), stream.end() - static_cast<std::ptrdiff_t>(missing));
      EXPECT_FALSE(isal_is_between_blocks(state_after(cut, output))) << size << ", " << missing;
    }
    Bytes more = stream;
    more.push_back(0x04);  // the beginning of a block with codes of its own
    EXPECT_FALSE(isal_is_between_blocks(state_after(more, output))) << size;
  }
}

TEST(IsalState, ShowsWhatWasInflatedAhead) {
  const Bytes data = make_data(5000);
  Bytes input = deflated_parts({{data, Z_FINISH}});
  std::array<std::uint8_t, 1> output{};
  inflate_state state = state_after(input, output);
  const auto kept = isal_kept_output(state);
  ASSERT_GT(kept.size(), 1U);
  EXPECT_TRUE(std::equal(kept.begin(), kept.end(), data.begin() + 1));
  isal_drop_kept_output(state, 1);
  EXPECT_EQ(isal_kept_output(state).size(), kept.size() - 1);
  state.next_out = output.data();
  state.avail_out = 1;
  EXPECT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);
  EXPECT_EQ(output[0], data[2]) << "the byte after the one that was dropped";
}

TEST(IsalState, CanBeginWithABlockAtAnyBit) {
  std::array<bool, 8> seen{};
  for (std::size_t size = 40; size < 120; ++size) {
    Bytes first = make_data(size);
    const Bytes second = make_data(2 * size);
    Bytes stream = deflated_parts({{first, Z_BLOCK}, {second, Z_BLOCK}, {{}, Z_FINISH}});
    const auto ends = block_ends(stream);
    ASSERT_GE(ends.size(), 2U);
    seen.at(ends[0] % 8) = true;
    inflate_state state{};
    isal_inflate_init(&state);
    ASSERT_EQ(isal_inflate_set_dict(&state, first.data(), static_cast<std::uint32_t>(size)),
              COMP_OK);
    isal_set_single_block(state, stream, ends[0]);
    Bytes output(2 * size + 1);
    state.next_out = output.data();
    state.avail_out = static_cast<std::uint32_t>(output.size());
    ASSERT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);
    EXPECT_TRUE(isal_has_ended(state));
    EXPECT_EQ(state.avail_out, 1U);
    EXPECT_TRUE(std::equal(second.begin(), second.end(), output.begin()));
    EXPECT_EQ(stream.size() * 8 - isal_unread_bits(state), ends[1]);
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 8) << "every bit of a byte";
}

}  // namespace
}  // namespace gpufilter::test

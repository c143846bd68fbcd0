// Huffman codes: as short as they can be, complete, and within deflate's limits.
#include "codec/deflate/huffman_code.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace gpufilter::test {
namespace {

using Counts = std::vector<std::uint32_t>;
using Lengths = std::vector<std::uint8_t>;

Lengths lengths_of(const Counts& counts, int longest) {
  Lengths lengths(counts.size(), 0xA5);
  huffman_code_lengths(counts, longest, lengths);
  return lengths;
}

std::uint64_t total_bits(const Counts& counts, const Lengths& lengths) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    total += std::uint64_t{counts[i]} * lengths[i];
  return total;
}

// What no prefix code undercuts: each joining of two nodes costs a bit for all below.
std::uint64_t fewest_bits(const Counts& counts) {
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> nodes;
  for (const std::uint32_t count : counts) {
    if (count > 0) nodes.push(count);
  }
  std::uint64_t total = 0;
  while (nodes.size() > 1) {
    const std::uint64_t first = nodes.top();
    nodes.pop();
    const std::uint64_t both = first + nodes.top();
    nodes.pop();
    nodes.push(both);
    total += both;
  }
  return total;
}

// Kraft's sum in units of the longest code: 2^longest where no bit pattern is without meaning.
std::uint64_t patterns(const Lengths& lengths, int longest) {
  std::uint64_t used = 0;
  for (const std::uint8_t length : lengths)
    used += length == 0 ? 0 : std::uint64_t{1} << (longest - length);
  return used;
}

void expect_complete(const Counts& counts, const Lengths& lengths, int longest) {
  EXPECT_EQ(patterns(lengths, longest), std::uint64_t{1} << longest);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) {
      EXPECT_GE(lengths[i], 1);
    }
    EXPECT_LE(lengths[i], longest);
  }
}

TEST(HuffmanCode, IsAsShortAsAnyWhereNothingLimitsIt) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Counts counts(2 + random() % 285);
    for (std::uint32_t& count : counts)
      count = static_cast<std::uint32_t>(
          random() % 3 == 0 ? 0 : 1 + random() % (round % 2 == 0 ? 4 : 60));
    counts[0] = counts[1] = 5;
    const Lengths lengths = lengths_of(counts, 15);
    expect_complete(counts, lengths, 15);
    ASSERT_EQ(total_bits(counts, lengths), fewest_bits(counts));
  }
}

// Fibonacci's numbers make the longest codes of all.
TEST(HuffmanCode, KeepsWithinTheLongestLength) {
  for (const int longest : {7, 15}) {
    for (std::size_t size = 2; size <= std::size_t(longest == 7 ? 19 : 40); ++size) {
      Counts counts(size, 1);
      for (std::size_t i = 2; i < size; ++i)
        counts[i] = counts[i - 1] + counts[i - 2];
      const Lengths lengths = lengths_of(counts, longest);
      expect_complete(counts, lengths, longest);
      EXPECT_TRUE(std::is_sorted(lengths.rbegin(), lengths.rend())) << size;
      if (size <= std::size_t(longest) + 1) {
        EXPECT_EQ(total_bits(counts, lengths), fewest_bits(counts));
      }
      EXPECT_LE(total_bits(counts, lengths), fewest_bits(counts) * 5 / 4) << size;
    }
  }
}

TEST(HuffmanCode, GivesTwoSymbolsACodeAtLeast) {
  EXPECT_EQ(lengths_of({0, 0, 0, 0}, 15), (Lengths{1, 1, 0, 0}));
  EXPECT_EQ(lengths_of({0, 0, 7, 0}, 15), (Lengths{1, 0, 1, 0}));
  EXPECT_EQ(lengths_of({9, 0, 0, 0}, 15), (Lengths{1, 1, 0, 0}));
  EXPECT_EQ(lengths_of({3, 0, 5, 0}, 15), (Lengths{1, 0, 1, 0}));
}

// The example of RFC 1951, section 3.2.2; the first bit is the lowest.
TEST(HuffmanCode, NumbersCodesAsTheStandardDoes) {
  const Lengths lengths{3, 3, 3, 3, 3, 2, 4, 4, 0};
  std::vector<std::uint16_t> codes(9, 0xA5A5);
  huffman_codes(lengths, codes);
  EXPECT_EQ(codes, (std::vector<std::uint16_t>{0b010, 0b110, 0b001, 0b101, 0b011, 0b00, 0b0111,
                                               0b1111, 0}));
}

}  // namespace
}  // namespace gpufilter::test

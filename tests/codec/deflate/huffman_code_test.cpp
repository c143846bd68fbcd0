// Huffman codes: complete, no longer than allowed, and as short as Huffman's algorithm makes them.
#include <algorithm>
#include <functional>
#include <queue>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "codec/deflate/format.hpp"

namespace gpufilter::test {
namespace {

using Counts = std::vector<std::uint32_t>;
using Lengths = std::vector<std::uint8_t>;

Lengths lengths_for(const Counts& counts, unsigned longest) {
  Lengths lengths(counts.size(), 77);
  make_code_lengths(counts, longest, lengths);
  return lengths;
}

std::uint64_t message_bits(const Counts& counts, const Lengths& lengths) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    bits += std::uint64_t{counts[i]} * lengths[i];
  return bits;
}

// What Huffman's algorithm makes of them without a limit: every node's count, added up.
std::uint64_t fewest_bits(const Counts& counts) {
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> nodes;
  for (const std::uint32_t count : counts) {
    if (count > 0) nodes.push(count);
  }
  std::uint64_t bits = 0;
  while (nodes.size() > 1) {
    std::uint64_t both = nodes.top();
    nodes.pop();
    both += nodes.top();
    nodes.pop();
    bits += both;
    nodes.push(both);
  }
  return bits;
}

void expect_complete(const Counts& counts, const Lengths& lengths, unsigned longest) {
  std::uint64_t taken = 0;  // of the code space
  for (std::size_t i = 0; i < counts.size(); ++i) {
    EXPECT_EQ(lengths[i] > 0, counts[i] > 0) << i;
    EXPECT_LE(lengths[i], longest) << i;
    if (lengths[i] > 0) taken += std::uint64_t{1} << (longest - lengths[i]);
  }
  EXPECT_EQ(taken, std::uint64_t{1} << longest);
}

TEST(HuffmanCode, IsCompleteAndShort) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    Counts counts(2 + random() % (literal_symbols - 1));
    for (std::uint32_t& count : counts)
      count = random() % 3 == 0 ? 0 : static_cast<std::uint32_t>(random() % (1U << random() % 20U));
    counts[0] = 1;
    counts[1] = 5;
    const Lengths lengths = lengths_for(counts, longest_code);
    expect_complete(counts, lengths, longest_code);
    if (*std::max_element(lengths.begin(), lengths.end()) < longest_code) {
      EXPECT_EQ(message_bits(counts, lengths), fewest_bits(counts));
    }
  }
}

// Counts like Fibonacci's numbers make the longest codes.
TEST(HuffmanCode, IsNotLongerThanAllowed) {
  Counts counts{1, 1};
  while (counts.size() < 30)
    counts.push_back(counts[counts.size() - 1] + counts[counts.size() - 2]);
  for (const unsigned longest : {5U, 7U, 15U}) {
    const Lengths lengths = lengths_for(counts, longest);
    expect_complete(counts, lengths, longest);
    EXPECT_EQ(*std::max_element(lengths.begin(), lengths.end()), longest);
    EXPECT_TRUE(std::is_sorted(lengths.rbegin(), lengths.rend()));
  }
}

TEST(HuffmanCode, OfOneSymbolHasOneBit) {
  EXPECT_EQ(lengths_for({0, 0, 9, 0}, 15), (Lengths{0, 0, 1, 0}));
  EXPECT_EQ(lengths_for({0, 0, 0}, 15), (Lengths{0, 0, 0}));
}

// The example of RFC 1951, 3.2.2: codes of these lengths are 010 to 110, 00, 1110 and 1111.
TEST(HuffmanCode, IsTheCanonicalOneWrittenBackwards) {
  const Lengths lengths{3, 3, 3, 3, 3, 2, 4, 4};
  std::vector<std::uint16_t> codes(lengths.size());
  make_codes(lengths, codes);
  EXPECT_EQ(codes,
            (std::vector<std::uint16_t>{0b010, 0b110, 0b001, 0b101, 0b011, 0b00, 0b0111, 0b1111}));
}

}  // namespace
}  // namespace gpufilter::test

#include "codec/deflate/huffman_code.hpp"

#include <algorithm>
#include <numeric>

namespace gpufilter {
namespace {

constexpr std::size_t node_count = 2 * deflate_symbols - 1;

// How many codes have each length.
using LengthCounts = std::array<std::uint32_t, longest_code + 1>;

// Symbols and their weights, the rarest first. A weight is the count, of which a symbol that does
// not occur has a fraction.
struct Leaves {
  std::array<std::uint16_t, deflate_symbols> symbols;
  std::array<std::uint64_t, deflate_symbols> weights;
};

Leaves sorted_leaves(const SymbolCounts& counts) {
  constexpr std::uint64_t scale = 4;
  std::array<std::uint64_t, deflate_symbols> keys{};
  for (std::size_t i = 0; i < deflate_symbols; ++i)
    keys[i] = (counts[i] * scale + 1) << 9U | i;  // unlike, so that the order is always the same
  std::sort(keys.begin(), keys.end());
  Leaves leaves{};
  for (std::size_t i = 0; i < deflate_symbols; ++i) {
    leaves.symbols[i] = static_cast<std::uint16_t>(keys[i] & 511U);
    leaves.weights[i] = keys[i] >> 9U;
  }
  return leaves;
}

// Huffman's algorithm with two queues: leaves in order, and the nodes made of two others, which
// come into being in order. Longer codes than allowed count as the longest.
LengthCounts count_lengths(const std::array<std::uint64_t, deflate_symbols>& leaf_weights) {
  std::array<std::uint64_t, node_count> weights{};
  std::array<std::uint16_t, node_count> parents{};
  std::copy(leaf_weights.begin(), leaf_weights.end(), weights.begin());
  std::size_t leaf = 0;
  std::size_t inner = deflate_symbols;
  for (std::size_t made = deflate_symbols; made < node_count; ++made) {
    for (int child = 0; child < 2; ++child) {
      const bool take_leaf =
          leaf < deflate_symbols && (inner == made || weights[leaf] <= weights[inner]);
      const std::size_t taken = take_leaf ? leaf++ : inner++;
      weights[made] += weights[taken];
      parents[taken] = static_cast<std::uint16_t>(made);
    }
  }
  std::array<std::uint8_t, node_count> depths{};
  LengthCounts lengths{};
  for (std::size_t node = node_count - 1; node-- > 0;) {
    depths[node] = static_cast<std::uint8_t>(depths[parents[node]] + 1);
    if (node < deflate_symbols) ++lengths.at(std::min<unsigned>(depths[node], longest_code));
  }
  return lengths;
}

// Codes cut to the longest length take more of the code space than there is: a shorter code and one
// of the longest become two of the next length, until they fit.
void make_complete(LengthCounts& lengths) {
  constexpr std::uint32_t space = 1U << longest_code;
  std::uint32_t taken = 0;
  for (unsigned length = 1; length <= longest_code; ++length)
    taken += lengths.at(length) << (longest_code - length);
  for (; taken > space; --taken) {
    unsigned length = longest_code - 1;
    while (lengths.at(length) == 0)
      --length;
    --lengths.at(length);
    lengths.at(length + 1) += 2;
    --lengths.at(longest_code);
  }
}

}  // namespace

CodeLengths code_lengths(const SymbolCounts& counts) {
  const Leaves leaves = sorted_leaves(counts);
  LengthCounts lengths = count_lengths(leaves.weights);
  make_complete(lengths);
  CodeLengths result{};
  std::size_t leaf = 0;
  for (unsigned length = longest_code; length > 0; --length) {
    for (std::uint32_t i = 0; i < lengths.at(length); ++i)
      result.at(leaves.symbols.at(leaf++)) = static_cast<std::uint8_t>(length);
  }
  return result;
}

std::array<std::uint16_t, deflate_symbols> canonical_code(const CodeLengths& lengths) {
  std::array<std::uint32_t, longest_code + 2> next{};
  for (const std::uint8_t length : lengths)
    ++next.at(length + 1U);
  for (unsigned length = 1; length < next.size(); ++length)
    next.at(length) = (next.at(length) + next.at(length - 1)) << 1U;
  // now next[length] is the first code of `length`
  std::array<std::uint16_t, deflate_symbols> code{};
  for (std::size_t i = 0; i < deflate_symbols; ++i) {
    std::uint32_t value = next.at(lengths[i])++;
    for (unsigned bit = 0; bit < lengths[i]; ++bit, value >>= 1U)
      code[i] = static_cast<std::uint16_t>(code[i] << 1U | (value & 1U));
  }
  return code;
}

}  // namespace gpufilter

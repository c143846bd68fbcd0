// Turns vectors of sums of quantized values into results.
#pragma once

#include <algorithm>
#include <bit>

#include "host/vectors.hpp"
#include "net/net_integer_rows.hpp"

namespace gpufilter {

// The bytes of output o, each in a word.
template <typename Ints>
[[gnu::always_inline]] inline VectorLike<Ints, std::uint32_t> requantized(const Ints& sums,
                                                                          const NetIntegerRow& row,
                                                                          std::size_t o) {
  // Floats are 1 apart there: the sum is rounded half to even, and its lowest bits are the
  // integer's.
  constexpr float above = 0x1.8p23F;
  constexpr auto bits_of_above = std::bit_cast<std::uint32_t>(above);
  using Floats = VectorLike<Ints, float>;
  const NetIntegers& integers = row.integers;
  const auto scaled =
      __builtin_convertvector(sums, Floats) * everywhere<Floats>(integers.scales[o]);
  const auto low = everywhere<Floats>(integers.low);
  const auto high = everywhere<Floats>(integers.high);
  const Floats raised = scaled > low ? scaled : low;
  const Floats moved = (raised < high ? raised : high) + everywhere<Floats>(above);
  return as<std::uint32_t>(moved) - everywhere<VectorLike<Ints, std::uint32_t>>(
                                        bits_of_above + static_cast<std::uint32_t>(row.out_low));
}

// The results of a block of outputs from their sums, `stride` apart.
template <typename Ints>
[[gnu::always_inline]] inline void store_block(const NetIntegerRow& row, std::size_t block,
                                               const Ints* sums, std::size_t stride,
                                               std::size_t column) {
  using Floats = VectorLike<Ints, float>;
  const std::size_t first = 4 * block;
  const std::size_t outputs = std::min(row.outputs - first, std::size_t{4});
  const NetIntegers& integers = row.integers;
  if (!integers.scales.empty()) {
    auto words = as<std::uint32_t>(Ints{});
    for (std::size_t i = 0; i < outputs; ++i)
      words |= requantized(sums[i * stride], row, first + i) << static_cast<std::uint32_t>(8 * i);
    return store(static_cast<std::uint32_t*>(row.out) + block * row.out_pitch + column, words);
  }
  for (std::size_t i = 0; i < outputs; ++i) {
    auto numbers = __builtin_convertvector(sums[i * stride], Floats);
    if (!integers.factors.empty()) numbers *= everywhere<Floats>(integers.factors[first + i]);
    if (!integers.offsets.empty()) numbers += everywhere<Floats>(integers.offsets[first + i]);
    store(static_cast<float*>(row.out) + (first + i) * row.out_pitch + column, numbers);
  }
}

}  // namespace gpufilter

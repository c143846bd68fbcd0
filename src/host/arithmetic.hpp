// Scalar arithmetic for vectorised loops, exact with every instruction set.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "host/instruction_set.hpp"

namespace gpufilter {

// std::fma(a, b, c) computed in double precision, for processors without an instruction for it,
// where the library's version takes several times as long and does not vectorise. The product is
// exact; the sum is rounded to odd (S. Boldo, G. Melquiond: Emulation of a FMA and correctly
// rounded sums, 2008), so that rounding it again, to single precision, gives the nearest number.
[[gnu::always_inline]] inline float fma_from_double(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = c;
  const double sum = product + addend;
  const double added = sum - product;
  const double error = (product - (sum - added)) + (addend - added);  // NaN if sum is infinite
  // The neighbour of an even sum on the side of the exact one. Written so that it vectorises
  // without comparisons of 64-bit integers.
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  const std::uint64_t even = ~bits & 1U;
  const std::uint64_t below = (std::bit_cast<std::uint64_t>(error) ^ bits) >> 63U;
  const auto odd = std::bit_cast<double>(bits + (even & ~below) - (even & below));
  return static_cast<float>(error > 0 ? odd : (error < 0 ? odd : sum));
}

// a * b + c, rounded once.
template <InstructionSet set>
[[gnu::always_inline]] inline float fused_multiply_add(float a, float b, float c) {
#if defined(__x86_64__) && !defined(__FMA__)
  if constexpr (set == InstructionSet::baseline) return fma_from_double(a, b, c);
#endif
  return std::fma(a, b, c);
}

// The sample nearest to `number`, half to even, saturated; 0 for a NaN.
template <typename Sample>
[[gnu::always_inline]] inline std::uint32_t to_sample(float number) {
  constexpr std::uint32_t max = std::numeric_limits<Sample>::max();
  const float positive = number > 0 ? number : 0;  // a NaN is not above 0
  // Numbers above 0 are in the order of their bits: comparing those keeps GCC from telling cases
  // apart before it rounds.
  const auto bits = std::bit_cast<std::int32_t>(positive);
  constexpr auto max_bits = std::bit_cast<std::int32_t>(static_cast<float>(max));
  const auto saturated = std::bit_cast<float>(bits < max_bits ? bits : max_bits);
  // Floats above 2^23 are integers: the addition rounds as required, and the low bits hold the
  // result.
  return std::bit_cast<std::uint32_t>(saturated + 0x1p23F) & max;
}

// A float of 0..1 as a sample: the product, rounded to the nearest float, then as above.
template <typename Sample>
[[gnu::always_inline]] inline std::uint32_t sample_of_float(float value) {
  return to_sample<Sample>(value * static_cast<float>(std::numeric_limits<Sample>::max()));
}

// What loops store for a computed float: itself, and the same bits for every NaN, as the hardware's
// differ.
[[gnu::always_inline]] inline float stored_float(float value) {
  return std::isnan(value) ? std::bit_cast<float>(0x7fc00000U) : value;
}

}  // namespace gpufilter

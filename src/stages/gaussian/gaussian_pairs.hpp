// The inner loops of --gaussian for 8-bit samples, by the instruction that multiplies pairs of
// 16-bit numbers and adds the products of each pair (pmaddwd).
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/instruction_set.hpp"

#ifdef __x86_64__
namespace gpufilter {

// Two weights of 16 bits as one number, as the loops take them.
inline std::uint32_t pair_of(std::int32_t first, std::int32_t second) {
  return static_cast<std::uint32_t>(first) | static_cast<std::uint32_t>(second) << 16U;
}

// All loops fill `count` numbers, or none if these are less than a vector, and return how many.
struct PairLoops {
  // For each number:
  //   out = (128 + sum over d of weights[d] * (in[-d * step] + in[d * step])) >> 8
  // with the middle, d = 0, once. Sums of two neighbours and weights fit 16 bits. Each of `pairs`
  // holds two weights, the last of an odd number beside a 0; `radius` is above 0. `rest`, unless
  // it is nullptr, gets the 8 bits that are shifted out.
  std::size_t (*along_row)(const std::int16_t* in, std::size_t count, std::ptrdiff_t step,
                           const std::uint32_t* pairs, int radius, std::int16_t* out,
                           std::int16_t* rest);
  // For each number and each of `lines` lines, 1 to lines_at_once:
  //   out = (2^21 + sum over i of weights[i] * rows[i]) >> 22
  // or, for results with seven more bits, (2^14 + ...) >> 15. `pairs` holds two weights for each
  // line, then the next two, `pair_count` times.
  static constexpr int lines_at_once = 4;
  template <typename Out>
  using AlongColumns = std::size_t (*)(const std::int16_t* const* rows, std::size_t count,
                                       const std::uint32_t* pairs, std::size_t pair_count,
                                       int lines, Out* const* out);
  AlongColumns<std::uint8_t> along_columns;
  AlongColumns<std::int16_t> along_columns_fine;
  // For products of samples and alpha, numbers from 0 to below 2^31:
  //   out = sum over i of weights[i] * rows[i]
  // The weights add up to 2^15.
  std::size_t (*products_along_columns)(const std::int32_t* const* rows, std::size_t count,
                                        const std::uint32_t* pairs, std::size_t pair_count,
                                        int lines, double* const* out);
};

[[nodiscard]] const PairLoops& pair_loops(InstructionSet set);

}  // namespace gpufilter
#endif

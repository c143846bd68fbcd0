// The inner loops of --gaussian for 8-bit samples, by products of pairs of 16-bit numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpufilter {

// Two weights of 16 bits as one number, as the loops take them.
inline std::uint32_t pair_of(std::int32_t first, std::int32_t second) {
  return static_cast<std::uint32_t>(first) | static_cast<std::uint32_t>(second) << 16U;
}

// All loops fill `count` numbers, or none if these are less than a vector, and return how many.

// For each number:
//   out = (128 + sum over d of weights[d] * (in[-d * step] + in[d * step])) >> 8
// with the middle, d = 0, once.
struct PairsAlongRow {
  const std::uint8_t* in;
  std::size_t count;
  std::ptrdiff_t step;
  const std::uint32_t* pairs;  // each two weights, the last of an odd number beside a 0
  int radius;                  // above 0
  std::int16_t* out;
  std::int16_t* rest;               // unless it is nullptr, gets the 8 bits that are shifted out
  std::vector<std::int16_t>* wide;  // memory
};
std::size_t gaussian_pairs_along_row(const PairsAlongRow& row);

// For each number and each of `lines` lines, 1 to pair_lines:
//   out = (2^21 + sum over i of weights[i] * rows[i]) >> 22
// or, for results with seven more bits, (2^14 + ...) >> 15. For products of samples and alpha,
// numbers from 0 to below 2^31:
//   out = sum over i of weights[i] * rows[i]
// where the weights add up to 2^15.
inline constexpr int pair_lines = 4;
template <typename In, typename Out>
struct PairsAlongColumns {
  const In* const* rows;
  std::size_t count;
  const std::uint32_t* pairs;  // two weights for each line, then the next two, `pair_count` times
  std::size_t pair_count;
  int lines;
  Out* const* out;
};
std::size_t gaussian_pairs_along_columns(const PairsAlongColumns<std::int16_t, std::uint8_t>&);
std::size_t gaussian_pairs_along_columns(const PairsAlongColumns<std::int16_t, std::int16_t>&);
std::size_t gaussian_pairs_along_columns(const PairsAlongColumns<std::int32_t, double>&);

}  // namespace gpufilter

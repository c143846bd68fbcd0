// Shared by the loops of --gaussian along rows and along columns: the types of values, sums over a
// window, and how a loop is run.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "host/loops.hpp"
#include "stages/gaussian/gaussian_rows.hpp"

namespace gpufilter {

inline constexpr std::size_t block = 64;  // sums that stay in registers
// Values of a row that are computed at a time: their windows stay in the second-level cache. Whole
// pixels of 1 to 4 channels, and whole blocks.
inline constexpr int tile_numbers = 1920;
static_assert(tile_numbers % (3 * block) == 0);
// Along rows: no more cache lines than a core can have in flight.
inline constexpr int row_tile_numbers = 1536;

// The types of values: Row for those summed along rows, Between for those in the rows between the
// directions, Plain for those of them without alpha's weight; and the types of the sums along rows
// and columns, of plain values and of those times alpha. Sums are exact: their types have the bits
// that they need, a double 53.
template <typename Sample, bool weighted>
struct GaussianTypes;
template <>
struct GaussianTypes<std::uint8_t, false> {
  using Row = std::int16_t;
  using RowSum = std::int32_t;   // 23 bits
  using Between = std::int16_t;  // 15 bits
  using Plain = Between;
  using ColumnSum = std::int32_t;  // 30 bits
  using ProductSum = std::int32_t;
};
template <>
struct GaussianTypes<std::uint16_t, false> {
  using Row = double;
  using RowSum = double;         // 42 bits
  using Between = std::int32_t;  // 23 bits
  using Plain = Between;
  using ColumnSum = double;  // 49 bits
  using ProductSum = double;
};
template <>
struct GaussianTypes<std::uint8_t, true> {
  using Row = std::int32_t;
  using RowSum = std::int32_t;     // 31 bits
  using Between = std::int32_t;    // the same
  using Plain = std::int16_t;      // 15 bits
  using ColumnSum = std::int32_t;  // 30 bits
  using ProductSum = double;       // 46 bits
};
template <>
struct GaussianTypes<std::uint16_t, true> {
  using Row = std::uint64_t;
  using RowSum = std::uint64_t;   // 58 bits
  using Between = std::uint64_t;  // 37 bits
  using Plain = Between;
  using ColumnSum = std::uint64_t;   // 49 bits
  using ProductSum = std::uint64_t;  // 63 bits
};

// Columns of a tile along rows, and of one along columns if the window is weighted.
[[nodiscard]] inline int tile_columns(const PixelFormat& picture, const GaussianWindow& window) {
  return std::max(row_tile_numbers / picture.channels, window.radius());
}

// Opaque tiles of a row. With weights by alpha and 8 bits, a tile whose windows are opaque has no
// products between the directions: they are 255 times the plain sums. Its first product is
// `opaque_tile`, which no product is; after it come the 8 bits of each plain sum that were shifted
// out, from which the products are made if other rows of a window need them.
template <typename Sample, bool weighted>
constexpr bool marks_opaque = weighted && sizeof(Sample) == 1;
inline constexpr std::int32_t opaque_tile = -1;

inline std::int16_t* rest_of_sums(std::int32_t* products) {
  return reinterpret_cast<std::int16_t*>(products + 1);
}
inline const std::int16_t* rest_of_sums(const std::int32_t* products) {
  return reinterpret_cast<const std::int16_t*>(products + 1);
}

// The bits that are dropped along rows and along columns, after adding half for rounding.
template <typename Sample>
constexpr int row_shift = gaussian_weight_bits(8 * sizeof(Sample)) - 7;
template <typename Sample>
constexpr int column_shift = gaussian_weight_bits(8 * sizeof(Sample)) + 7;
// For results with seven more bits.
template <typename Sample>
constexpr int fine_column_shift = gaussian_weight_bits(8 * sizeof(Sample));

// Opaque alpha between the directions, in sums of weight * alpha.
template <typename Sample>
constexpr std::uint64_t opaque_alpha =
    std::uint64_t{std::numeric_limits<Sample>::max()}
    << (sizeof(Sample) == 1 ? gaussian_weight_bits(8) : gaussian_weight_bits(16) - alpha_row_shift);

template <int bits, typename Sum>
constexpr Sum half_of = static_cast<Sum>(std::int64_t{1} << (bits - 1));

// floor(sum / 2^bits), less than 2^31.
template <int bits, typename Sum>
[[gnu::always_inline]] inline std::int32_t shifted(Sum sum) {
  if constexpr (std::is_same_v<Sum, double>) {
    return static_cast<std::int32_t>(sum * (1.0 / static_cast<double>(std::int64_t{1} << bits)));
  } else {
    return static_cast<std::int32_t>(sum >> bits);
  }
}

// The values at a distance from the middle.
template <typename Number>
struct RowNeighbours {
  const Number* middle;
  std::ptrdiff_t step;
  [[gnu::always_inline]] const Number* operator()(int distance, bool after) const {
    return middle + (after ? distance : -distance) * step;
  }
};
template <typename Number>
struct ColumnNeighbours {
  const Number* const* middle;
  std::size_t x;
  [[gnu::always_inline]] const Number* operator()(int distance, bool after) const {
    return middle[after ? distance : -distance] + x;
  }
};

// sums[k] = start + sum over d of weights[d] * (neighbours(d, false)[i + k] +
// neighbours(d, true)[i + k]), the middle, d = 0, once.
template <std::size_t width, typename Neighbours, typename Sum>
[[gnu::always_inline]] inline void sum_block(const Neighbours& neighbours, std::size_t i,
                                             const Sum* weights, int radius, Sum start, Sum* sums) {
  alignas(64) std::array<Sum, width> acc;
  const auto* middle = neighbours(0, false) + i;
  for (std::size_t k = 0; k < width; ++k)
    acc[k] = start + weights[0] * static_cast<Sum>(middle[k]);
  for (int d = 1; d <= radius; ++d) {
    const auto* before = neighbours(d, false) + i;
    const auto* after = neighbours(d, true) + i;
    const Sum weight = weights[d];
    // Keeps GCC from joining the loops of two distances, which it then does not vectorise.
    asm volatile("" : "+r"(before));
    for (std::size_t k = 0; k < width; ++k)
      acc[k] += weight * (static_cast<Sum>(before[k]) + static_cast<Sum>(after[k]));
  }
  for (std::size_t k = 0; k < width; ++k)
    sums[k] = acc[k];
}

// Works in blocks, the last of which computes some sums again; less than a block is done one by
// one, because memory may end with the row.
template <typename Neighbours, typename Sum>
[[gnu::always_inline]] inline void sum_all(const Neighbours& neighbours, std::size_t count,
                                           const std::vector<Sum>& weights, Sum start, Sum* sums) {
  const int radius = static_cast<int>(weights.size()) - 1;
  if (count < block) {
    for (std::size_t i = 0; i < count; ++i)
      sum_block<1>(neighbours, i, weights.data(), radius, start, sums + i);
    return;
  }
  for (std::size_t i = 0; i < count; i += block) {
    const std::size_t at = std::min(i, count - block);
    sum_block<block>(neighbours, at, weights.data(), radius, start, sums + at);
  }
}

template <typename Loop>
void run_with_weights(typename Loop::Job job) {
  job.weights.assign(job.window->weights.begin(), job.window->weights.end());
  Loop::prepare(job);
  run_loop<Loop>(&job);
}

// Whether gaussian_pairs.hpp has loops for this window. The weight of a window of one pixel does
// not fit them.
template <typename Sample>
bool has_pairs(const GaussianWindow& window) {
  return sizeof(Sample) == 1 && window.radius() > 0;
}

// Runs the loop for samples of `depth` bits.
template <template <typename, bool> typename Loop, typename... Arguments>
void run_gaussian(int depth, bool weighted, const Arguments&... arguments) {
  if (depth == 8) {
    weighted ? run_with_weights<Loop<std::uint8_t, true>>({arguments...})
             : run_with_weights<Loop<std::uint8_t, false>>({arguments...});
  } else {
    weighted ? run_with_weights<Loop<std::uint16_t, true>>({arguments...})
             : run_with_weights<Loop<std::uint16_t, false>>({arguments...});
  }
}

}  // namespace gpufilter

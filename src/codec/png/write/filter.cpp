#include <algorithm>
#include <array>
#include <cstring>

#include "codec/png/write/compression.hpp"
#include "host/loops.hpp"

namespace gpufilter {
namespace {

using Byte = std::uint8_t;

// Predictions from the neighbours left, up and corner (up and left). They use only arithmetic on
// bytes, so that a vector register holds as many pixels as possible.
struct Sub {
  [[gnu::always_inline]] static Byte predict(Byte left, Byte /*up*/, Byte /*corner*/) {
    return left;
  }
};

struct Up {
  [[gnu::always_inline]] static Byte predict(Byte /*left*/, Byte up, Byte /*corner*/) { return up; }
};

struct Average {
  [[gnu::always_inline]] static Byte predict(Byte left, Byte up, Byte /*corner*/) {
    return static_cast<Byte>((left & up) + static_cast<Byte>((left ^ up) >> 1U));
  }
};

// a - b, or 0 if b is larger.
[[gnu::always_inline]] inline Byte excess(Byte a, Byte b) {
  return static_cast<Byte>(std::max(a, b) - b);
}

// PNG predicts the neighbour nearest to the estimate left + up - corner, without arithmetic beyond
// bytes. With low and high the lower and the higher of left and up, the estimate is
// low + high - corner. Hence its distance to low is |high - corner| and its distance to high is
// |corner - low|. If the corner lies between low and high, the distance to the corner is the
// difference of these two. If it lies above high, low is the nearest, and to_low becomes 0; if it
// lies below low, high is the nearest, and to_high becomes 0. Low and high are equally near only if
// the estimate is the corner, so PNG's rule that left goes before up does not matter.
struct Paeth {
  [[gnu::always_inline]] static Byte predict(Byte left, Byte up, Byte corner) {
    const Byte low = std::min(left, up);
    const Byte high = std::max(left, up);
    const Byte to_low = excess(high, corner);
    const Byte to_high = excess(corner, low);
    const Byte nearer = std::min(to_low, to_high);
    const Byte to_corner = static_cast<Byte>(std::max(to_low, to_high) - nearer);
    const Byte rest = to_high <= std::min(nearer, to_corner) ? high : corner;
    return to_low <= std::min(nearer, to_corner) ? low : rest;
  }
};

using Row = std::span<const Byte>;

// The neighbours left of the first pixel are zeros.
template <typename Predictor>
[[gnu::always_inline]] inline void filter_row(Row row, const Byte* above, std::size_t distance,
                                              Byte* __restrict residues) {
  const std::size_t size = row.size();
  const std::size_t first = std::min(distance, size);
  const Byte* bytes = row.data();
  for (std::size_t i = 0; i < first; ++i)
    residues[i] = static_cast<Byte>(bytes[i] - Predictor::predict(0, above[i], 0));
  for (std::size_t i = first; i < size; ++i) {
    residues[i] = static_cast<Byte>(
        bytes[i] - Predictor::predict(bytes[i - distance], above[i], above[i - distance]));
  }
}

// A version that does not read the row above, which may be missing.
[[gnu::always_inline]] inline void filter_sub(Row row, std::size_t distance,
                                              Byte* __restrict residues) {
  const std::size_t size = row.size();
  const std::size_t first = std::min(distance, size);
  const Byte* bytes = row.data();
  std::copy_n(bytes, first, residues);
  for (std::size_t i = first; i < size; ++i)
    residues[i] = static_cast<Byte>(bytes[i] - bytes[i - distance]);
}

// An estimate of the residues' size after deflating: the sum of their distances from 0 in a quarter
// of the row. Larger distances are clamped to max_distance, because codes of large residues have
// similar lengths.
template <typename Predictor>
[[gnu::always_inline]] inline std::uint64_t cost(Row row, const Byte* above, std::size_t distance) {
  constexpr Byte max_distance = 16;
  constexpr std::size_t piece = 256;
  constexpr std::size_t stride = 4 * piece;
  const Byte* bytes = row.data();
  std::uint64_t total = 0;
  for (std::size_t begin = distance; begin < row.size(); begin += stride) {
    const std::size_t end = std::min(begin + piece, row.size());
    std::uint32_t sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Byte prediction =
          Predictor::predict(bytes[i - distance], above[i], above[i - distance]);
      const Byte residue = static_cast<Byte>(bytes[i] - prediction);
      sum += std::min(std::min(residue, static_cast<Byte>(-residue)), max_distance);
    }
    total += sum;
  }
  return total;
}

[[gnu::always_inline]] inline PngFilter best_filter(Row row, const Byte* above,
                                                    std::size_t distance) {
  const std::array<std::uint64_t, 4> costs{
      cost<Sub>(row, above, distance), cost<Up>(row, above, distance),
      cost<Average>(row, above, distance), cost<Paeth>(row, above, distance)};
  constexpr std::array filters{PngFilter::sub, PngFilter::up, PngFilter::average, PngFilter::paeth};
  const auto best = std::min_element(costs.begin(), costs.end()) - costs.begin();
  return filters.at(static_cast<std::size_t>(best));
}

struct FilterRow {
  template <InstructionSet>
  [[gnu::always_inline]] static void run(PngFilter filter, Row row, const Byte* above,
                                         std::size_t distance, Byte* filtered) {
    if (filter == PngFilter::best) filter = best_filter(row, above, distance);
    filtered[0] = static_cast<Byte>(filter);
    Byte* residues = filtered + 1;
    switch (filter) {
      case PngFilter::none:
      case PngFilter::best:
        std::memcpy(residues, row.data(), row.size());
        break;
      case PngFilter::sub:
        filter_sub(row, distance, residues);
        break;
      case PngFilter::up:
        filter_row<Up>(row, above, distance, residues);
        break;
      case PngFilter::average:
        filter_row<Average>(row, above, distance, residues);
        break;
      case PngFilter::paeth:
        filter_row<Paeth>(row, above, distance, residues);
        break;
    }
  }
};

}  // namespace

void png_filter_row(PngFilter filter, Row row, const Byte* above, std::size_t distance,
                    Byte* filtered) {
  run_loop<FilterRow>(filter, row, above, distance, filtered);
}

}  // namespace gpufilter

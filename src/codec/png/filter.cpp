#include "codec/png/filter.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "codec/clones.hpp"

namespace gpufilter {
namespace {

using Byte = std::uint8_t;

// The predictions from left, up and corner (up and left). All is done in bytes, so that the
// compiler works on as many at a time as a vector register holds.
struct Sub {
  static Byte predict(Byte left, Byte /*up*/, Byte /*corner*/) { return left; }
};

struct Up {
  static Byte predict(Byte /*left*/, Byte up, Byte /*corner*/) { return up; }
};

struct Average {
  static Byte predict(Byte left, Byte up, Byte /*corner*/) {
    return static_cast<Byte>((left & up) + static_cast<Byte>((left ^ up) >> 1U));
  }
};

Byte difference(Byte a, Byte b) {
  return static_cast<Byte>(std::max(a, b) - std::min(a, b));
}

// The neighbour nearest to left + up - corner. That estimate is farther from the corner than from
// both others where left and up lie on the same side of the corner, else as far as they differ.
struct Paeth {
  static Byte predict(Byte left, Byte up, Byte corner) {
    const Byte to_left = difference(up, corner);
    const Byte to_up = difference(left, corner);
    const Byte side_of_up = up > corner ? 255 : 0;
    const Byte side_of_left = left > corner ? 255 : 0;
    const Byte same_side = side_of_up == side_of_left ? 255 : 0;
    const Byte to_corner = static_cast<Byte>(difference(to_left, to_up) | same_side);
    const Byte rest = to_up <= to_corner ? up : corner;
    return to_left <= std::min(to_up, to_corner) ? left : rest;
  }
};

using Row = std::span<const Byte>;

// Before the first pixel everything is zero.
template <typename Predictor>
void filter_row(Row row, const Byte* above, std::size_t distance, Byte* __restrict residues) {
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

// Without a look at the row above, which may be missing.
void filter_sub(Row row, std::size_t distance, Byte* __restrict residues) {
  const std::size_t size = row.size();
  const std::size_t first = std::min(distance, size);
  const Byte* bytes = row.data();
  std::copy_n(bytes, first, residues);
  for (std::size_t i = first; i < size; ++i)
    residues[i] = static_cast<Byte>(bytes[i] - bytes[i - distance]);
}

// The sum of the distances between bytes and predictions in a quarter of the row: an estimate of
// what the residues cost when deflated.
template <typename Predictor>
std::uint64_t cost(Row row, const Byte* above, std::size_t distance) {
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
      sum += static_cast<std::uint32_t>(std::abs(bytes[i] - prediction));
    }
    total += sum;
  }
  return total;
}

PngFilter best_filter(Row row, const Byte* above, std::size_t distance) {
  const std::array<std::uint64_t, 4> costs{
      cost<Sub>(row, above, distance), cost<Up>(row, above, distance),
      cost<Average>(row, above, distance), cost<Paeth>(row, above, distance)};
  constexpr std::array filters{PngFilter::sub, PngFilter::up, PngFilter::average, PngFilter::paeth};
  const auto least = std::min_element(costs.begin(), costs.end()) - costs.begin();
  return filters.at(static_cast<std::size_t>(least));
}

}  // namespace

GPUFILTER_CLONES
void png_filter_row(PngFilter filter, Row row, const Byte* above, std::size_t distance,
                    Byte* filtered) {
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

}  // namespace gpufilter

#include "stages/point/lattice.hpp"

#include <algorithm>
#include <cmath>

namespace gpufilter {
namespace {

using std::size_t;

LatticeAxis make_axis(double low, double high, std::uint32_t last, double max) {
  constexpr double steepest = 0x1p28;  // never reached by a sample that is inside the domain
  const double slope = std::min(last / ((high - low) * max), steepest);
  LatticeAxis axis;
  axis.low = static_cast<std::uint32_t>(std::clamp(std::ceil(low * max), 0.0, max));
  axis.high = static_cast<std::uint32_t>(std::clamp(std::floor(high * max), 0.0, max));
  const double start = (axis.low - low * max) * slope;
  axis.start = static_cast<std::uint32_t>(std::clamp(std::nearbyint(start), 0.0, double(last)));
  axis.whole = static_cast<std::uint32_t>(slope);
  axis.part =
      static_cast<std::uint32_t>(std::min(std::nearbyint((slope - axis.whole) * 65536), 65535.0));
  return axis;
}

// The curve of channel `c` at `x`, linear between its entries.
double interpolated(const Cube& curves, size_t c, double x) {
  const double low = curves.low.at(c);
  const auto last = static_cast<double>(curves.size - 1);
  const double place = std::clamp((x - low) / (curves.high.at(c) - low) * last, 0.0, last);
  const double before = std::min(std::floor(place), last - 1);
  const auto at = static_cast<size_t>(before);
  const double first = curves.colors[at].at(c);
  return first + (place - before) * (curves.colors[at + 1].at(c) - first);
}

std::vector<std::uint32_t> shaped_positions(const Cube& cube, std::uint32_t last,
                                            const PixelFormat& format) {
  std::vector<std::uint32_t> positions;
  for (size_t c = 0; c < 3; ++c) {
    for (std::uint32_t v = 0; v <= format.max_sample(); ++v) {
      const double x = interpolated(*cube.shaper, c, double(v) / format.max_sample());
      const double share = (x - cube.low.at(c)) / (cube.high.at(c) - cube.low.at(c));
      positions.push_back(
          static_cast<std::uint32_t>(std::nearbyint(std::clamp(share, 0.0, 1.0) * last)));
    }
  }
  return positions;
}

}  // namespace

Lattice make_lattice(const Cube& cube, double strength, const PixelFormat& format) {
  const double max = format.max_sample();
  Lattice lattice;
  lattice.size = static_cast<std::uint32_t>(cube.size);
  lattice.last = (lattice.size - 1) << fraction_bits;
  for (size_t c = 0; c < 3; ++c)
    lattice.axes.at(c) = make_axis(cube.low.at(c), cube.high.at(c), lattice.last, max);
  if (cube.shaper) lattice.positions = shaped_positions(cube, lattice.last, format);
  lattice.keep = static_cast<float>(1 - strength);
  const size_t size = lattice.size;
  lattice.nodes.resize(4 * (cube.colors.size() + size * size + size + 1));
  const double scale = strength * max / (1U << fraction_bits);
  for (size_t i = 0; i < cube.colors.size(); ++i) {
    for (size_t c = 0; c < 3; ++c)
      lattice.nodes[4 * i + c] = static_cast<float>(cube.colors[i].at(c) * scale);
  }
  return lattice;
}

std::vector<std::uint16_t> curve_tables(const Cube& cube, double strength,
                                        const PixelFormat& format) {
  const double max = format.max_sample();
  std::vector<std::uint16_t> tables;
  for (size_t c = 0; c < 3; ++c) {
    for (std::uint32_t v = 0; v <= format.max_sample(); ++v) {
      const double mixed = v + strength * (interpolated(cube, c, v / max) * max - v);
      tables.push_back(static_cast<std::uint16_t>(std::clamp(std::nearbyint(mixed), 0.0, max)));
    }
  }
  return tables;
}

}  // namespace gpufilter

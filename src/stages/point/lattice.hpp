// A table of colours as loops and kernels use it, for samples of one depth.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "image/pixel_format.hpp"
#include "stages/point/cube.hpp"

namespace gpufilter {

// The bits of the position of a sample between two nodes.
inline constexpr std::uint32_t fraction_bits = 20;

// From a sample to its position along an axis, in integers, within 2^-20 of the exact one:
//   first before `low`, `last` after `high`, otherwise
//   min(start + d * whole + (d * part + 2^15 >> 16), last), d = sample - low
struct LatticeAxis {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  std::uint32_t start = 0;
  std::uint32_t whole = 0;
  std::uint32_t part = 0;
};

// out = keep * sample + the sum of four nodes with their weights, one chain of fma in single
// precision from keep * sample on. The weights are integers that sum to 2^20; the nodes are
// multiplied by the strength and by max / 2^20.
struct Lattice {
  std::uint32_t size = 0;
  std::uint32_t last = 0;           // the position of the last node
  std::array<LatticeAxis, 3> axes;  // without a shaper
  // With a shaper: the position of every sample, red, green, blue; otherwise empty.
  std::vector<std::uint32_t> positions;
  float keep = 0;
  std::vector<float> nodes;  // four floats each; beyond the last node, zeros that have no weight
};

[[nodiscard]] Lattice make_lattice(const Cube& cube, double strength, const PixelFormat& format);

// For curves: the result for every sample, red, green, blue. Double precision, half to even.
[[nodiscard]] std::vector<std::uint16_t> curve_tables(const Cube& cube, double strength,
                                                      const PixelFormat& format);

}  // namespace gpufilter

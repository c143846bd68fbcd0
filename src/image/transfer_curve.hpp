// How the samples of a picture relate to light: sRGB's curve, a power, or a curve of an ICC
// profile.
#pragma once

#include <cstdint>
#include <vector>

namespace gpufilter {

// Samples and light are from 0 to 1. For a sample x the light is
//   (a x + b)^gamma + e   from x = d on
//   c x + f               before
// limited to 0..1, as in ICC.1:2022, 10.18.
struct TransferCurve {
  double gamma = 1;
  double a = 1;
  double b = 0;
  double c = 0;
  double d = 0;
  double e = 0;
  double f = 0;
  // If not empty, the curve instead: 65535 times the light at equal distances from 0 to 1, linear
  // between. At least two numbers.
  std::vector<std::uint16_t> table = {};

  bool operator==(const TransferCurve&) const = default;
};

// IEC 61966-2-1.
[[nodiscard]] TransferCurve srgb_curve();

// The exponents of curves that are used.
inline constexpr double lowest_exponent = 0.1;
inline constexpr double highest_exponent = 10;

// Whether light rises with samples: nowhere down, and not the same everywhere. `gamma` has to be
// within the limits above.
[[nodiscard]] bool is_rising(const TransferCurve& curve);

// In double precision with the same bits on every machine.
[[nodiscard]] double light_of(const TransferCurve& curve, double sample);

}  // namespace gpufilter

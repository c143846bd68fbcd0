// How the samples of a picture relate to light: sRGB's curve, a power, or a curve of its ICC
// profile (ICC.1:2022). Nothing outside a profile's bytes is ever read, whatever they say.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "image/metadata.hpp"

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
  // If not empty, a table that replaces the formula: 65535 times the light at equidistant samples
  // from 0 to 1, interpolated linearly. At least two entries.
  std::vector<std::uint16_t> table = {};

  bool operator==(const TransferCurve&) const = default;
};

// IEC 61966-2-1.
[[nodiscard]] TransferCurve srgb_curve();

// The exponents of curves that are used.
inline constexpr double lowest_exponent = 0.1;
inline constexpr double highest_exponent = 10;

// Whether light rises with samples: it never falls, and is not constant. `gamma` has to be within
// the limits above.
[[nodiscard]] bool is_rising(const TransferCurve& curve);

// In double precision with the same bits on every machine.
[[nodiscard]] double light_of(const TransferCurve& curve, double sample);

// Why a profile cannot be used; it completes "the ICC profile ...". Such a profile is ignored with
// a warning.
class UnusableProfile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The colours of its pixels, as its header names them: "CMYK", "RGB", "GRAY", "Lab". Empty if it
// has no header.
[[nodiscard]] std::string icc_color_space(const Bytes& profile);

// The major number of its version; 0 if it has no header.
[[nodiscard]] int icc_major_version(const Bytes& profile);

// Why a profile has no curves that can be used; it completes "the ICC profile ...".
class NoIccCurves : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Red, green and blue of a profile of a matrix and curves; three times the curve of a grey one.
// Throws NoIccCurves.
[[nodiscard]] std::array<TransferCurve, 3> icc_curves(const Bytes& profile);

// x and y of red, green and blue of a matrix/TRC profile, relative to D50; nothing for other
// profiles and damaged ones.
[[nodiscard]] std::optional<std::array<double, 6>> icc_primaries(const Bytes& profile);

// The curves of red, green and blue; grey uses green's. All are increasing.
struct LightCurves {
  std::array<TransferCurve, 3> colors{srgb_curve(), srgb_curve(), srgb_curve()};
  std::string name = "sRGB curve";
  std::string warning = {};  // why sRGB's was taken although the picture describes another one
  bool operator==(const LightCurves&) const = default;
};

// The curves that the picture declares, in PNG's order: code points (cICP), ICC profile, sRGB,
// gamma; by default sRGB's.
[[nodiscard]] LightCurves light_curves(const Metadata& metadata);

}  // namespace gpufilter

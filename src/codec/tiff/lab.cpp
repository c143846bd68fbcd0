#include "codec/tiff/lab.hpp"

#include <algorithm>

#include "image/transfer_curve.hpp"

namespace gpufilter {
namespace {

// The inverse of CIE's f: light of X, Y or Z relative to white.
double light_of_f(double f) {
  constexpr double edge = 6.0 / 29;
  return f > edge ? f * f * f : 3 * edge * edge * (f - 4.0 / 29);
}

}  // namespace

TiffLab::TiffLab(int depth, bool is_icc)
    : lightness_scale_(100.0 / (depth == 8 ? 255
                                : is_icc   ? 65280
                                           : 65535)),
      color_scale_(depth == 8 ? 1 : 1.0 / 256),
      sign_(1 << (depth - 1)),
      wrap_(1 << depth),
      is_icc_(is_icc) {
  const int max = wrap_ - 1;
  const TransferCurve curve = srgb_curve();
  for (int i = 0; i < max; ++i)
    thresholds_.push_back(light_of(curve, (i + 0.5) / max));
}

std::array<std::uint16_t, 3> TiffLab::to_rgb(const std::uint16_t* lab) const {
  const auto number = [&](std::uint16_t stored) {
    const int value = is_icc_ ? stored - sign_ : stored < sign_ ? stored : stored - wrap_;
    return value * color_scale_;
  };
  constexpr std::array white{0.95047, 1.0, 1.08883};
  const double y = (lab[0] * lightness_scale_ + 16) / 116;
  const double light_x = white[0] * light_of_f(y + number(lab[1]) / 500);
  const double light_y = white[1] * light_of_f(y);
  const double light_z = white[2] * light_of_f(y - number(lab[2]) / 200);
  return {sample_of(3.2404542 * light_x - 1.5371385 * light_y - 0.4985314 * light_z),
          sample_of(-0.9692660 * light_x + 1.8760108 * light_y + 0.0415560 * light_z),
          sample_of(0.0556434 * light_x - 0.2040259 * light_y + 1.0572252 * light_z)};
}

std::uint16_t TiffLab::sample_of(double light) const {
  return static_cast<std::uint16_t>(
      std::upper_bound(thresholds_.begin(), thresholds_.end(), light) - thresholds_.begin());
}

}  // namespace gpufilter

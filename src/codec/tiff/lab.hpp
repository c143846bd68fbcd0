// CIE Lab as TIFF files store it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace gpufilter {

// To sRGB: Lab relative to D65, as libvips and ImageMagick take it; colours that sRGB does not have
// get the nearest samples. The same bits on every machine.
class TiffLab {
 public:
  // Of 8 or 16 bits. Those of ICC profiles have another scale, and a and b without a sign.
  TiffLab(int depth, bool is_icc);

  // Samples of `depth` bits, as stored.
  [[nodiscard]] std::array<std::uint16_t, 3> to_rgb(const std::uint16_t* lab) const;

 private:
  [[nodiscard]] std::uint16_t sample_of(double light) const;

  double lightness_scale_;  // of a stored sample to 0..100
  double color_scale_;
  int sign_;  // what a and b begin at
  int wrap_;  // 2^depth
  bool is_icc_;
  std::vector<double> thresholds_;  // the light from which on a sample is the next one
};

}  // namespace gpufilter

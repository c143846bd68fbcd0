// Which curve leads from the samples of a picture to light.
#pragma once

#include <array>
#include <string>

#include "image/metadata.hpp"
#include "image/transfer_curve.hpp"

namespace gpufilter {

// The curves of red, green and blue; grey has that of green. All are increasing.
struct LightCurves {
  std::array<TransferCurve, 3> colors{srgb_curve(), srgb_curve(), srgb_curve()};
  std::string name = "sRGB curve";
  std::string warning = {};  // why sRGB's was taken although the picture describes another one
  bool operator==(const LightCurves&) const = default;
};

// What the picture says about itself, in PNG's order: code points (cICP), ICC profile, sRGB,
// gamma; if nothing, sRGB.
[[nodiscard]] LightCurves light_curves(const Metadata& metadata);

}  // namespace gpufilter

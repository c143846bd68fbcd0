// A colour behind or around a picture, in the picture's own samples.
#pragma once

#include <array>
#include <cstdint>

#include "image/color.hpp"
#include "image/pixel_format.hpp"
#include "image/sample_arithmetic.hpp"

namespace gpufilter {

// Red, green and blue, or grey.
using Background = std::array<std::uint32_t, 3>;

[[nodiscard]] inline Background background_in(const PixelFormat& format, const Color& color) {
  const std::uint32_t scale = format.max_sample() / 255;
  if (format.color_channels() == 1) return {luma_bt601(color[0], color[1], color[2]) * scale};
  return {color[0] * scale, color[1] * scale, color[2] * scale};
}

}  // namespace gpufilter

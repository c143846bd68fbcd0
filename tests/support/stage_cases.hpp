// What tests of stages go through: every format and border, and pictures that tell differences.
#pragma once

#include <array>
#include <vector>

#include "image/image.hpp"
#include "stages/border.hpp"

namespace gpufilter::test {

inline constexpr std::array all_borders{Border::replicate, Border::mirror, Border::wrap,
                                        Border::constant};

// 1 to 4 channels of 8 and 16 bits.
[[nodiscard]] std::vector<PixelFormat> all_formats();

// Random and extreme samples; with alpha, also mixed alpha and an opaque picture.
[[nodiscard]] std::vector<Image> different_pictures(ImageSize size, PixelFormat format);

// The same; with alpha, also one with opaque, translucent and invisible areas, each of which fills
// windows.
[[nodiscard]] std::vector<Image> window_pictures(ImageSize size, PixelFormat format);

}  // namespace gpufilter::test

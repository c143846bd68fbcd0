// A picture with opaque, translucent and invisible areas, as an object that was cut out.
#pragma once

#include "support/pictures.hpp"

namespace gpufilter::test {

// Random colours; `format` has alpha. Diagonal stripes of alpha: the maximum, then random, then 0.
[[nodiscard]] inline Image cut_out_image(ImageSize size, PixelFormat format, std::uint64_t seed) {
  Image image = random_image(size, format, seed);
  const int end = size.width + 3 * size.height;
  for (const auto [x, y] : each_pixel(size)) {
    const int third = 3 * (x + 3 * y) / end;
    if (third == 1) continue;
    set_sample(image, x, y, format.channels - 1,
               third == 0 ? static_cast<std::uint32_t>(format.max_sample()) : 0);
  }
  return image;
}

}  // namespace gpufilter::test

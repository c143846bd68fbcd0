// Loops over samples that are compiled for each format of pixels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "image/pixel_format.hpp"

namespace gpufilter {

// Calls loop.template operator()<Sample, channels>() for the type of the samples and the number of
// channels of `format`.
template <typename Loop>
void for_format(const PixelFormat& format, const Loop& loop) {
  const auto of_type = [&]<typename Sample>(Sample) {
    switch (format.channels) {
      case 1:
        return loop.template operator()<Sample, 1>();
      case 2:
        return loop.template operator()<Sample, 2>();
      case 3:
        return loop.template operator()<Sample, 3>();
      default:
        return loop.template operator()<Sample, 4>();
    }
  };
  format.depth == 8 ? of_type(std::uint8_t{}) : of_type(std::uint16_t{});
}

}  // namespace gpufilter

// Random data for measurements: the same for the same seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "image/image.hpp"

namespace gpufilter::lab {

void fill_randomly(std::uint8_t* data, std::size_t bytes, std::uint64_t seed);

// From -1 to 1.
[[nodiscard]] std::vector<float> random_numbers(std::size_t count, unsigned seed);

// Random colours; alpha is opaque, as in most pictures.
[[nodiscard]] Image random_picture(ImageSize size, const PixelFormat& format);

}  // namespace gpufilter::lab

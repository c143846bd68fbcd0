// The sample pictures, drawn from arithmetic alone.
#pragma once

#include "image/image.hpp"

namespace gpufilter::samples {

// A mountain lake in the evening, 1920x1280, 8-bit RGB.
[[nodiscard]] Image draw_landscape();

// `picture` (8-bit RGB) at a third of its size, as 8-bit grey.
[[nodiscard]] Image to_small_grey(const Image& picture);

// A round badge with soft edges on transparent ground, 512x512, 8-bit RGBA.
[[nodiscard]] Image draw_badge();

// Slow gradients whose steps only 16 bits can hold, 320x240, 16-bit RGB.
[[nodiscard]] Image draw_gradient();

}  // namespace gpufilter::samples

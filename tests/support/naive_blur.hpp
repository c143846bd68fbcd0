// The box blur written a second time, from the definition and for one pixel at a time.
#pragma once

#include "image/image.hpp"
#include "stages/blur.hpp"

namespace gpufilter::test {

[[nodiscard]] Image naive_blur(const Image& image, Border border, AlphaMode alpha);

}  // namespace gpufilter::test

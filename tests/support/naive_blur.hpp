// A second implementation of the box blur, from the definition and for one pixel at a time.
#pragma once

#include "image/image.hpp"
#include "stages/window/blur.hpp"

namespace gpufilter::test {

[[nodiscard]] Image naive_blur(const Image& image, Border border, AlphaMode alpha);

}  // namespace gpufilter::test

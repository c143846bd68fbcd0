// fpnge, where CMake was given its sources.
#pragma once

#include <cstddef>

#include "image/image.hpp"

namespace gpufilter::bench {

// The bytes of the file that fpnge makes of a picture of 8 bits a sample at its level 1 to 5.
[[nodiscard]] std::size_t fpnge_size(const Image& image, int level);

}  // namespace gpufilter::bench

// The matrix of --color as OpenCL C.
#pragma once

#include <string>

#include "stages/color_matrix.hpp"

namespace gpufilter {

// The body of a PixelFunction for pixels of `source`.
[[nodiscard]] std::string color_source(const ColorMatrix& matrix, const PixelFormat& source);

}  // namespace gpufilter

// The box blur in plain C++: the reference for every kernel.
#pragma once

#include "stages/window/blur.hpp"

namespace gpufilter {

// Fills `target` with the blur of `source`, rows of a picture `height` high; same width and format.
// `source` covers target.rows and one row above and below, as far as these lie within the picture
// (with Border::wrap: always).
void blur_rows(const ConstRows& source, const MutableRows& target, int height, Border border,
               AlphaMode alpha);

}  // namespace gpufilter

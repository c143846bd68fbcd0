// The value of --resize.
#pragma once

#include <string>

#include "stages/resize/resize.hpp"

namespace gpufilter {

// Sets the box or percentage of `value`: "800x600", "800", "800x", "x600", "50%", and what
// ImageMagick's signs behind it mean: '^' cover, '!' fill, '>' shrink only, '<' enlarge only.
// Throws UsageError.
void set_resize_size(ResizeParameters& parameters, const std::string& value);

}  // namespace gpufilter

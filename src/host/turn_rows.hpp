// Turns pixels in memory, whatever their format.
#pragma once

#include "image/image.hpp"
#include "image/placement.hpp"

namespace gpufilter {

// Fills `target` with `source` turned; it has the size of the result and any pitch. The rows of
// both are numbered as they like.
void turn_rows(const ConstRows& source, const Turn& turn, const MutableRows& target);

// `image` turned.
[[nodiscard]] Image turned(Image image, const Turn& turn);

}  // namespace gpufilter

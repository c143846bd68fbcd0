// The loop of --gaussian on the processor in both directions at once.
#pragma once

#include "image/rows.hpp"
#include "stages/gaussian/gaussian_rows.hpp"

namespace gpufilter {

// Whether there is a loop for this window, pictures of this format and the instructions in use: for
// 8-bit samples and AVX-512 VNNI.
[[nodiscard]] bool has_gaussian_tiles(const PixelFormat& picture, const GaussianWindow& window);

// Fills `target` from `source`, which has the rows around it, in a picture `height` high, as
// gaussian_along_rows() and gaussian_along_columns() would. Returns false, with unspecified
// results, if the window is weighted and not all pixels are opaque.
[[nodiscard]] bool gaussian_tile_rows(const ConstRows& source, const MutableRows& target,
                                      int height, const GaussianWindow& window);

}  // namespace gpufilter

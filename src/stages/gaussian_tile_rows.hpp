// The loop of --gaussian on the processor in both directions at once.
#pragma once

#include "image/rows.hpp"
#include "stages/gaussian_rows.hpp"

namespace gpufilter {

// Whether there is a loop for this window, pictures of this format and the instructions in use: for
// 8-bit samples that are not weighted by alpha, and AVX-512 VNNI.
[[nodiscard]] bool has_gaussian_tiles(const PixelFormat& picture, const GaussianWindow& window);

// gaussian_along_rows(), then gaussian_along_columns(). `source` has the rows around those of
// `target`, in a picture `height` high.
void gaussian_tile_rows(const ConstRows& source, const MutableRows& target, int height,
                        const GaussianWindow& window);

}  // namespace gpufilter

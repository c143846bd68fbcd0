// --gaussian on the processor in one step: both directions at once where a loop suits the pixels.
#pragma once

#include <cstdint>

#include "image/rows.hpp"
#include "stages/gaussian/gaussian_rows.hpp"

namespace gpufilter {

// Fills `target` from `source`, which has the rows around it, in a picture `height` high: by
// gaussian_tile_rows(), but along rows and then along columns where pixels are not opaque and
// colours are weighted by alpha. For windows and pictures of which has_gaussian_tiles() is true.
void gaussian_both_ways(const ConstRows& source, const MutableRows& target, int height,
                        const GaussianWindow& window);

// Bytes of the rows between the directions that a call takes for pictures of this width, because
// there may be pixels that are not opaque.
[[nodiscard]] std::uint64_t gaussian_bytes_between(int width, const PixelFormat& picture,
                                                   const GaussianWindow& window);

}  // namespace gpufilter

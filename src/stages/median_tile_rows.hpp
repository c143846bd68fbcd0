// Medians of windows of any size by networks of comparisons for tiles of neighbouring pixels.
// docs/engineering/stages.md explains them.
#pragma once

#include "image/rows.hpp"
#include "stages/border.hpp"

namespace gpufilter {

// Fills `target` from `source`, a part of a picture `height` high, which has the rows around those.
// Each channel by itself, without weights. `radius` is 4 or more.
void median_tile_rows(const ConstRows& source, const MutableRows& target, int height, Border border,
                      int radius);

}  // namespace gpufilter

// Medians of windows of 3x3.
#pragma once

#include "image/rows.hpp"
#include "stages/border.hpp"

namespace gpufilter {

// Fills `target` from `source`, a part of a picture `height` high, which has the rows around those.
// Each channel by itself, without weights.
void median_nine_rows(const ConstRows& source, const MutableRows& target, int height,
                      Border border);

}  // namespace gpufilter

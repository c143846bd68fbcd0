// Medians of windows of 5x5 and 7x7 by networks of comparisons.
#pragma once

#include "image/rows.hpp"
#include "stages/border.hpp"

namespace gpufilter {

inline constexpr int max_network_radius = 3;

// Fills `target` from `source`, a part of a picture `height` high, which has the rows around those.
// Each channel by itself, without weights. `radius` is 2 or 3.
void median_network_rows(const ConstRows& source, const MutableRows& target, int height,
                         Border border, int radius);

}  // namespace gpufilter

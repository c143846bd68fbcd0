// --median in plain C++: the reference for its kernels.
#pragma once

#include "stages/median.hpp"

namespace gpufilter {

// Larger windows of bytes take histograms, which then have fewer operations than tiles' networks.
inline constexpr int max_tile_radius_of_bytes = 9;

// Fills `target` from `source`, rows of a picture `height` high; same width and format. `source`
// covers border_rows() of target.rows.
void median_rows(const ConstRows& source, const MutableRows& target, int height,
                 const MedianParameters& parameters);

}  // namespace gpufilter

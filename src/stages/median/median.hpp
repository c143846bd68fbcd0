// --median: the middle one of the samples around each pixel.
#pragma once

#include "stage/border.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

struct MedianParameters {
  static constexpr int max_radius = 31;

  int radius = 1;  // of a square window: 2 radius + 1 on each side
  Border border = Border::replicate;
  AlphaMode alpha = AlphaMode::weighted;
};

[[nodiscard]] std::shared_ptr<const Stage> make_median(const MedianParameters& parameters);

// For larger windows of bytes, histograms take fewer operations than networks for tiles.
inline constexpr int max_tile_radius_of_bytes = 9;

// Fills `target` from `source`, rows of a picture `height` high; same width and format. `source`
// covers border_rows() of target.rows.
void median_rows(const ConstRows& source, const MutableRows& target, int height,
                 const MedianParameters& parameters);

// Unweighted medians of each channel: 3x3, 5x5 and 7x7 by comparison networks; a radius of 4 or
// more by networks for tiles of neighbouring pixels, which docs/engineering/stages.md explains.
inline constexpr int max_network_radius = 3;
void median_nine_rows(const ConstRows& source, const MutableRows& target, int height,
                      Border border);
void median_network_rows(const ConstRows& source, const MutableRows& target, int height,
                         Border border, int radius);
void median_tile_rows(const ConstRows& source, const MutableRows& target, int height, Border border,
                      int radius);

}  // namespace gpufilter

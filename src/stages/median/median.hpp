// --median: the middle one of the samples around each pixel.
#pragma once

#include "stage/alpha.hpp"
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

}  // namespace gpufilter

// --levels: stretches the colours so that the darkest becomes 0 and the lightest the maximum.
#pragma once

#include <cstdint>

#include "compute/picture_statistics.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

// A sample value as given: in the picture's own range, or as a share of its maximum.
struct Level {
  double value = 0;
  bool percent = false;
};

// out = (sample - low) * max / (high - low), in double precision, rounded half to even, saturated;
// the same for every colour channel, so that greys stay grey. low < high is required.
[[nodiscard]] std::shared_ptr<const Stage> make_levels(Level low, Level high);

// Takes low and high from the picture: of all colour samples, `clip_percent` percent lie below low
// and as many above high (nearest rank; 0: minimum and maximum). A picture in which these are the
// same stays as it is. 0 <= clip_percent < 50.
[[nodiscard]] std::shared_ptr<const Stage> make_auto_levels(double clip_percent);

// The values that make_auto_levels() uses; {0, 0} for a picture without pixels.
struct LevelBounds {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};
[[nodiscard]] LevelBounds level_bounds(const std::vector<Histogram>& colors, double clip_percent);

}  // namespace gpufilter

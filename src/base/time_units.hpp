// Durations as numbers for people and for rates.
#pragma once

#include "base/timeline.hpp"

namespace gpufilter {

[[nodiscard]] inline double seconds(Nanoseconds duration) {
  return static_cast<double>(duration) / 1e9;
}

[[nodiscard]] inline double milliseconds(Nanoseconds duration) {
  return static_cast<double>(duration) / 1e6;
}

}  // namespace gpufilter

// Units of the reports about folders.
#pragma once

#include <cstdint>

#include "base/time_units.hpp"

namespace gpufilter {

// 0 if the time is 0.
[[nodiscard]] inline double megapixels_per_second(std::uint64_t pixels, Nanoseconds duration) {
  return duration == 0 ? 0 : static_cast<double>(pixels) * 1e3 / static_cast<double>(duration);
}

[[nodiscard]] inline double gigabytes_per_second(std::uint64_t bytes, Nanoseconds duration) {
  return duration == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(duration);
}

}  // namespace gpufilter

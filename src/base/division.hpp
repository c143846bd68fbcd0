// Division of counts.
#pragma once

#include <cstddef>

namespace gpufilter {

// The number of parts of `by` things, the last one perhaps smaller, that hold `count` things.
[[nodiscard]] constexpr std::size_t divided_up(std::size_t count, std::size_t by) {
  return (count + by - 1) / by;
}

}  // namespace gpufilter

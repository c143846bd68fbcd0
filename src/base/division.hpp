// Division of counts.
#pragma once

#include <concepts>
#include <type_traits>

namespace gpufilter {

// The number of parts of `by` things, the last one perhaps smaller, that hold `count` things.
template <std::integral Number>
[[nodiscard]] constexpr Number divided_up(Number count, std::type_identity_t<Number> by) {
  return (count + by - 1) / by;
}

}  // namespace gpufilter

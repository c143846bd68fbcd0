// Conversions of samples that files and stages share. All are exact integers.
#pragma once

#include <cstdint>

namespace gpufilter {

// The nearest of 256 levels to the given one of 65536.
[[nodiscard]] constexpr std::uint8_t narrow_sample(std::uint16_t sample) {
  return static_cast<std::uint8_t>((sample * 255U + 32767U) / 65535U);
}

// A colour with this alpha laid over a background, rounded to nearest. `max` is the largest sample
// of their depth. The sum stays below 2^32 in 16 bits too: it is at most max * max + max / 2.
[[nodiscard]] constexpr std::uint32_t flattened(std::uint32_t color, std::uint32_t alpha,
                                                std::uint32_t background, std::uint32_t max) {
  return (color * alpha + background * (max - alpha) + max / 2) / max;
}

}  // namespace gpufilter

// Conversions of samples that files and stages share. All are exact integers.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gpufilter {

// A sample of 0..max as the nearest one of 0..new_max, both at most 65535. There and back is the
// same sample if new_max is not smaller.
[[nodiscard]] constexpr std::uint32_t scaled_sample(std::uint32_t sample, std::uint32_t max,
                                                    std::uint32_t new_max) {
  return (sample * new_max + max / 2) / max;
}

// The nearest of 256 levels to the given one of 65536.
[[nodiscard]] constexpr std::uint8_t narrow_sample(std::uint16_t sample) {
  return static_cast<std::uint8_t>(scaled_sample(sample, 65535U, 255U));
}

// A colour with this alpha blended over a background, rounded to nearest. `max` is the largest
// sample of their depth. The sum stays below 2^32 in 16 bits too: it is at most max * max + max /
// 2.
[[nodiscard]] constexpr std::uint32_t flattened(std::uint32_t color, std::uint32_t alpha,
                                                std::uint32_t background, std::uint32_t max) {
  return (color * alpha + background * (max - alpha) + max / 2) / max;
}

// The colour of a pixel whose colour was multiplied by its alpha, rounded to nearest. One without
// alpha stays as it is.
[[nodiscard]] constexpr std::uint32_t unpremultiplied(std::uint32_t color, std::uint32_t alpha,
                                                      std::uint32_t max) {
  return alpha == 0 ? color : std::min(max, (color * max + alpha / 2) / alpha);
}

}  // namespace gpufilter

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

// A sample of 0..max as a float of 0..1: the quotient, rounded once.
[[nodiscard]] constexpr float float_of_sample(std::uint32_t sample, std::uint32_t max) {
  return static_cast<float>(sample) / static_cast<float>(max);
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

// Weighted sums of samples as stored, in integers, rounded to nearest. The result is within the
// samples' range, and greys stay the same.

// Luma by ITU-R BT.709: for the statistics of pictures, and the stages that use them.
// kernels/stage/common.cl has the same formula.
[[nodiscard]] constexpr std::uint32_t luma_bt709(std::uint32_t red, std::uint32_t green,
                                                 std::uint32_t blue) {
  return (2126U * red + 7152U * green + 722U * blue + 5000U) / 10000U;
}

// ITU-R BT.601, as JPEG converts colours to grey: backgrounds of grey pictures, and the dimmed
// picture behind differences.
[[nodiscard]] constexpr std::uint32_t luma_bt601(std::uint32_t red, std::uint32_t green,
                                                 std::uint32_t blue) {
  return (299U * red + 587U * green + 114U * blue + 500U) / 1000U;
}

}  // namespace gpufilter

// The brightness of a pixel, by the weights of two standards.
#pragma once

#include <cstdint>

namespace gpufilter {

// Weighted sums of samples as stored, in integers, rounded to nearest. The result is within the
// samples' range, and that of grey is the grey itself.

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

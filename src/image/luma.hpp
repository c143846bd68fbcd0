// The brightness of a pixel.
#pragma once

#include <cstdint>

namespace gpufilter {

// The weights of ITU-R BT.709 applied to samples as stored, in integers, rounded to nearest. The
// result is within the samples' range. kernels/common.cl has the same formula.
[[nodiscard]] constexpr std::uint32_t luma(std::uint32_t red, std::uint32_t green,
                                           std::uint32_t blue) {
  return (2126U * red + 7152U * green + 722U * blue + 5000U) / 10000U;
}

}  // namespace gpufilter

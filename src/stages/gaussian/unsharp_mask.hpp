// Applies an unsharp mask to a row on the processor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/arithmetic.hpp"
#include "image/pixel_format.hpp"
#include "stages/gaussian/gaussian_rows.hpp"

namespace gpufilter {

// The weights of BT.709 luma.
constexpr float luma_red = 0.2126F;
constexpr float luma_green = 0.7152F;
constexpr float luma_blue = 0.0722F;

// For each sample x: difference = 128 x - fine, with seven more bits than samples; if it is above
// 128 * threshold, out = fma(amount / 128, difference, x). With luma_only, the difference of all
// colours is that of luma.
template <InstructionSet set, typename Sample, typename Original, typename Fine>
[[gnu::always_inline]] inline void sharpen_line(const Original* original, const Fine* fine,
                                                std::size_t count, const PixelFormat& format,
                                                const UnsharpMask& mask, Sample* out) {
  const float amount = mask.amount / 128;
  const float threshold = mask.threshold * 128;
  const auto difference = [&](std::size_t i) __attribute__((always_inline)) {
    return static_cast<float>(static_cast<std::int32_t>(original[i]) * 128 -
                              static_cast<std::int32_t>(fine[i]));
  };
  const auto changed = [&](std::size_t i, float by) __attribute__((always_inline)) {
    const float magnitude = by < 0 ? -by : by;
    const auto x = static_cast<float>(static_cast<std::int32_t>(original[i]));
    return static_cast<Sample>(
        to_sample<Sample>(fused_multiply_add<set>(magnitude > threshold ? amount : 0.0F, by, x)));
  };
  const auto channels = static_cast<std::size_t>(format.channels);
  const bool has_luma = mask.luma_only && format.color_channels() == 3;
  if (has_luma) {
    for (std::size_t i = 0; i < count; i += channels) {
      float luma = luma_red * difference(i);
      luma = fused_multiply_add<set>(luma_green, difference(i + 1), luma);
      luma = fused_multiply_add<set>(luma_blue, difference(i + 2), luma);
      for (std::size_t c = 0; c < 3; ++c)
        out[i + c] = changed(i + c, luma);
      if (channels > 3) out[i + 3] = changed(i + 3, difference(i + 3));
    }
  } else {
    for (std::size_t i = 0; i < count; ++i)
      out[i] = changed(i, difference(i));
  }
  if (!mask.keeps_alpha || !format.has_alpha()) return;
  for (std::size_t i = channels - 1; i < count; i += channels)
    out[i] = static_cast<Sample>(original[i]);
}

}  // namespace gpufilter

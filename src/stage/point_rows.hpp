// The driver of stages that change single pixels, on the processor. All of it is inlined, and so
// compiled for the instruction set of the loop that calls it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "host/arithmetic.hpp"
#include "host/pixels.hpp"
#include "image/rows.hpp"
#include "image/sample_arithmetic.hpp"

namespace gpufilter {

// luma_bt709() of a pixel. For bytes it multiplies in single precision, because vectors have no
// integer division: the sum is exact, and its quotient, wrong by less than 3.1e-5, is at least 5e-5
// from a whole number.
template <InstructionSet set, typename Sample>
[[gnu::always_inline]] inline float luma_bt709_of(const Pixel<Sample, 4>& pixel) {
  if constexpr (sizeof(Sample) == 1) {
    const auto sum =
        [](float weight, std::int32_t sample, float rest) __attribute__((always_inline)) {
      if constexpr (set == InstructionSet::baseline) return weight * float(sample) + rest;
      return fused_multiply_add<set>(weight, float(sample), rest);
    };
    const float all =
        sum(722, pixel.get(2), sum(7152, pixel.get(1), sum(2126, pixel.get(0), 5000.5F)));
    return static_cast<float>(static_cast<std::int32_t>(all * 1e-4F));
  }
  return static_cast<float>(static_cast<std::int32_t>(
      luma_bt709(static_cast<std::uint32_t>(pixel.get(0)), static_cast<std::uint32_t>(pixel.get(1)),
                 static_cast<std::uint32_t>(pixel.get(2)))));
}

// Calls row(first sample of the source's row, of the target's) for each row of `target`.
template <typename From, typename To = From, typename Row>
[[gnu::always_inline]] inline void for_rows(const ConstRows& source, const MutableRows& target,
                                            const Row& row) {
  for (int y = target.rows.begin; y < target.rows.end; ++y)
    row(reinterpret_cast<const From*>(source.row(y)), reinterpret_cast<To*>(target.row(y)));
}

// Calls use(block, count, out) for blocks of up to `pixels` pixels of each row: an array of RGBA
// that stays in the first-level cache, of which the first `count` pixels are valid, and the address
// of the first one in `target`.
template <InstructionSet set, typename Sample, std::size_t pixels, typename Use>
[[gnu::always_inline]] inline void for_rgba_blocks(const ConstRows& source,
                                                   const MutableRows& target, const Use& use) {
  const auto width = static_cast<std::size_t>(source.width);
  const auto channels = static_cast<std::size_t>(source.format.channels);
  const auto target_channels = static_cast<std::size_t>(target.format.channels);
  alignas(64) std::array<Sample, 4 * pixels> block{};
  for_rows<Sample>(
      source, target, [&](const Sample* in, Sample* out) __attribute__((always_inline)) {
        for (std::size_t x = 0; x < width; x += pixels) {
          const std::size_t count = std::min(pixels, width - x);
          to_rgba<set>(in + channels * x, channels, count, block.data());
          use(block, count, out + target_channels * x);
        }
      });
}

// Calls change(block, count) for such blocks, and stores the pixels that it leaves there in
// `target`, which has 3 or 4 channels.
template <InstructionSet set, typename Sample, std::size_t pixels, typename Change>
[[gnu::always_inline]] inline void change_rgba_blocks(const ConstRows& source,
                                                      const MutableRows& target,
                                                      const Change& change) {
  const auto channels = static_cast<std::size_t>(target.format.channels);
  for_rgba_blocks<set, Sample, pixels>(
      source,
      target, [&](auto& block, std::size_t count, Sample* out) __attribute__((always_inline)) {
        change(block, count);
        from_rgba<set>(block.data(), count, channels, out);
      });
}

}  // namespace gpufilter

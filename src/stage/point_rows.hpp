// The driver of stages that change single pixels, on the processor. All of it is inlined, and so
// compiled for the instruction set of the loop that calls it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "host/pixels.hpp"
#include "image/rows.hpp"

namespace gpufilter {

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

// How the colours of an overlay and of the picture below mix: W3C Compositing and Blending Level 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stage/options/catalogue.hpp"

namespace gpufilter {

// As BLEND in kernels/geometry/overlay.cl.
enum class BlendMode {
  normal,
  multiply,
  screen,
  overlay,
  soft_light,
  darken,
  lighten,
  difference,
  add
};

// The parameter --blend; its value is a BlendMode.
[[nodiscard]] StageParameter blend_parameter();

// W3C's D(x) for soft-light, in 1/256 of a sample: an entry for each sample of this depth.
[[nodiscard]] std::vector<std::uint32_t> soft_light_table(int depth);

// out = the blended colour of each sample, rounded; `colors` are the overlay's, `below` the
// picture's. `table` is soft_light_table(), which only soft-light reads.
void blend_samples(BlendMode mode, const std::uint8_t* colors, const std::uint8_t* below,
                   std::size_t count, const std::uint32_t* table, std::uint8_t* out);
void blend_samples(BlendMode mode, const std::uint16_t* colors, const std::uint16_t* below,
                   std::size_t count, const std::uint32_t* table, std::uint16_t* out);

}  // namespace gpufilter

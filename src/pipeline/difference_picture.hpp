// A picture that shows where two pictures differ.
#pragma once

#include <cstdint>

#include "image/rows.hpp"

namespace gpufilter {

// RGB, 8-bit.
inline constexpr PixelFormat difference_format{3, 8};

// Draws the same rows of two pictures of one format as rows of difference_format. The colour shows
// the largest difference of each pixel's samples:
// - none: the brightness of a, grey and dimmed to at most 85;
// - up to `tolerance` steps: dark bluish green (0, 79, 58);
// - more: yellow for a difference of one, each doubling a step redder, red from half of the full
//   range on. Where colours differ by no more than the tolerance and alpha by more: cyan to blue in
//   the same steps.
void draw_difference(const ConstRows& a, const ConstRows& b, std::uint32_t tolerance,
                     const MutableRows& drawing);

}  // namespace gpufilter

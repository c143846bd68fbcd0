// The loops of --overlay on the processor.
#pragma once

#include <cstdint>
#include <vector>

#include "image/image.hpp"
#include "image/region.hpp"

namespace gpufilter {

// The picture that lies above, in the channels and depth of the result.
struct OverlayPixels {
  ImageSize size;
  PixelFormat format;
  // Row by row, without gaps: pixels of `format`. If it has no alpha, `alphas` has that of every
  // sample in the same order; otherwise it is empty.
  std::vector<std::uint8_t> colors;
  std::vector<std::uint8_t> alphas;
};

// `image` for results of `format`, which has colours if the image has. Alpha is multiplied by
// `opacity` and rounded to the nearest sample.
[[nodiscard]] OverlayPixels overlay_pixels(const Image& image, const PixelFormat& format,
                                           double opacity);

// Whether it has a pixel that is neither grey nor transparent.
[[nodiscard]] bool has_colors(const Image& image);

// Fills `target` from the same rows of `source` with `above` blended over them, whose top left
// pixel is at `corner`. Grey becomes RGB if the target has colours.
void overlay_rows(const ConstRows& source, const MutableRows& target, const OverlayPixels& above,
                  PixelPosition corner);

}  // namespace gpufilter

// Histograms drawn as an SVG file.
#pragma once

#include <string>
#include <string_view>

#include "compute/picture_statistics.hpp"

namespace gpufilter::lab {

// Colours are translucent areas, alpha is a line. The scale is linear; the few columns that would
// flatten all others are cut off at the top and marked. `histograms` belong to a picture in
// `format`.
[[nodiscard]] std::string draw_histograms(const Histograms& histograms, const PixelFormat& format,
                                          const std::string& title, const std::string& subtitle);

// Draws without axes, in about 1 kB. The drawing fills the width of its container; screen readers
// read `label`.
[[nodiscard]] std::string sketch_histograms(const Histograms& histograms, const PixelFormat& format,
                                            std::string_view label);

}  // namespace gpufilter::lab

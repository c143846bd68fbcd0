// Histograms drawn as a picture.
#pragma once

#include <string>

#include "compute/picture_statistics.hpp"
#include "image/image.hpp"

namespace gpufilter {

inline constexpr ImageSize histogram_plot_size{960, 540};

// RGB, 8-bit. Colours are filled areas that add up where they overlap, alpha is a line. The scale
// is linear; the few columns that would flatten all others are cut off at the top, which is marked.
// `histograms` are those of a picture in `format`.
[[nodiscard]] Image draw_histograms(const Histograms& histograms, const PixelFormat& format,
                                    const std::string& title, const std::string& subtitle);

}  // namespace gpufilter

// Histograms as small drawings in a page, which has chart_style_sheet().
#pragma once

#include <string>
#include <string_view>

#include "compute/picture_statistics.hpp"

namespace gpufilter::lab {

// Without axes, about 1 kB. It fills the width of its place; screen readers read `label`.
[[nodiscard]] std::string sketch_histograms(const Histograms& histograms, const PixelFormat& format,
                                            std::string_view label);

}  // namespace gpufilter::lab

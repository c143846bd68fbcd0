// What drawings of histograms have in common.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "compute/picture_statistics.hpp"

namespace gpufilter::lab {

inline constexpr std::size_t histogram_columns = 256;

// Shares of the pixels, by column. A column covers one 8-bit value or 256 16-bit values.
using HistogramColumns = std::array<double, histogram_columns>;
[[nodiscard]] HistogramColumns columns_of(const Histogram& histogram);

struct HistogramLook {
  std::size_t series;    // the colour, see SvgCanvas
  bool is_line = false;  // instead of a filled area
};
// The look of each channel's histogram.
[[nodiscard]] std::vector<HistogramLook> histogram_looks(const PixelFormat& format);

// The share at the top of the drawing: a little more than nearly all columns of the colours need.
// Peaks far above the others, such as those of black borders, are cut off. Alpha is often the same
// everywhere, so it does not affect the scale.
[[nodiscard]] double top_share(const std::vector<HistogramColumns>& channels,
                               const PixelFormat& format);

}  // namespace gpufilter::lab

#include "chart/histogram_sketch.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "chart/histogram_columns.hpp"
#include "chart/svg_canvas.hpp"

namespace gpufilter::lab {
namespace {

constexpr int sketch_height = 100;
constexpr std::size_t step = 4;  // columns that share a point: the larger file shows no more
constexpr int points = static_cast<int>(histogram_columns / step);

// Through the heights of all points, from the left to the right. Steps are relative and written
// without the spaces that SVG does not need, as a page may have thousands of these.
std::string path_of(const HistogramColumns& channel, double top) {
  std::string path;
  int before = 0;
  for (std::size_t i = 0; i < histogram_columns; i += step) {
    const auto first = channel.begin() + static_cast<std::ptrdiff_t>(i);
    const double highest = *std::max_element(first, first + step);
    const auto y =
        static_cast<int>(std::lround(sketch_height * (1 - std::min(highest / top, 1.0))));
    if (i == 0) {
      path = formatted("M0 {}l", y);
    } else {
      path += formatted("{}1{}{}", i == step ? "" : " ", y < before ? "" : " ", y - before);
    }
    before = y;
  }
  return path;
}

}  // namespace

std::string sketch_histograms(const Histograms& histograms, const PixelFormat& format,
                              std::string_view label) {
  std::vector<HistogramColumns> channels;
  for (const Histogram& histogram : histograms.channels)
    channels.push_back(columns_of(histogram));
  const double top = top_share(channels, format);
  const auto looks = histogram_looks(format);
  std::string svg = formatted(
      "<svg class=\"sketch\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{}\">",
      points - 1, sketch_height, escaped_markup(label));
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const std::string path = path_of(channels[c], top);
    const std::string stroke = stroke_of(looks[c].series);
    svg += looks[c].is_line ? formatted("<path class=\"curve {}\" d=\"{}\"/>", stroke, path)
                            : formatted("<path class=\"{} {} faint\" d=\"{}V{}H0Z\"/>", stroke,
                                        fill_of(looks[c].series), path, sketch_height);
  }
  return svg + "</svg>";
}

}  // namespace gpufilter::lab

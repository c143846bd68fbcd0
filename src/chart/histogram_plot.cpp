#include "chart/histogram_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/format.hpp"
#include "base/printable.hpp"
#include "chart/svg_chart.hpp"
#include "compute/picture_statistics.hpp"

namespace gpufilter::lab {
namespace {

inline constexpr std::size_t histogram_columns = 256;

// Shares of the pixels, by column. A column covers one 8-bit value or 256 16-bit values.
using HistogramColumns = std::array<double, histogram_columns>;

struct HistogramLook {
  std::size_t series;    // the colour, see SvgCanvas
  bool is_line = false;  // instead of a filled area
};

HistogramColumns columns_of(const Histogram& histogram) {
  const auto pixels =
      static_cast<double>(std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0}));
  const std::size_t values = histogram.size() / histogram_columns;
  HistogramColumns shares{};
  for (std::size_t i = 0; i < histogram.size(); ++i)
    shares.at(i / values) += static_cast<double>(histogram[i]) / pixels;
  return shares;
}

// The look of each channel's histogram.
std::vector<HistogramLook> histogram_looks(const PixelFormat& format) {
  constexpr std::size_t red = 1;
  constexpr std::size_t green = 2;
  constexpr std::size_t blue = 0;
  constexpr std::size_t grey = 7;
  constexpr std::size_t violet = 4;
  std::vector<HistogramLook> looks{{grey}};
  if (format.color_channels() == 3) looks = {{red}, {green}, {blue}};
  if (format.has_alpha()) looks.push_back({violet, true});
  return looks;
}

// The share at the top of the drawing: a little more than nearly all columns of the colours need.
// Peaks far above the others, such as those of black borders, are clipped. Alpha is often the same
// everywhere, so it does not affect the scale.
double top_share(const std::vector<HistogramColumns>& channels, const PixelFormat& format) {
  std::vector<double> shares;
  for (std::size_t c = 0; c < static_cast<std::size_t>(format.color_channels()); ++c) {
    std::copy_if(channels[c].begin(), channels[c].end(), std::back_inserter(shares),
                 [](double share) { return share > 0; });
  }
  std::sort(shares.begin(), shares.end());
  const double usual = shares[(shares.size() - 1) * 98 / 100];
  return 1.08 * std::min(shares.back(), 1.5 * usual);
}

// The panel: three pixels for each column.
constexpr int columns = histogram_columns;
constexpr double column_width = 3;
constexpr double left = 76;
constexpr double top = 72;
constexpr double width = columns * column_width;
constexpr double height = 400;
constexpr double legend_x = left + width + 18;
constexpr std::size_t longest_title = 80;  // characters

double x_of(double column) {
  return left + (column + 0.5) * column_width;
}

class Plot {
 public:
  Plot(const Histograms& histograms, const PixelFormat& format, const std::string& title)
      : format_(format), looks_(histogram_looks(format)), canvas_(960, 540, title) {
    for (const Histogram& histogram : histograms.channels)
      channels_.push_back(columns_of(histogram));
    top_share_ = top_share(channels_, format);
  }

  std::string draw(const std::string& title, const std::string& subtitle) {
    canvas_.rectangle("panel", {left, top}, width, height);
    draw_share_axis();
    draw_value_axis();
    for (std::size_t c = 0; c < channels_.size(); ++c)
      draw_channel(channels_[c], looks_[c]);
    canvas_.line("frame", {left, top}, {left, top + height});
    canvas_.line("frame", {left, top + height}, {left + width, top + height});
    draw_cuts();
    canvas_.text("title", {left, 30}, title);
    canvas_.text("note", {left, 52}, subtitle);
    draw_legend();
    return canvas_.svg();
  }

 private:
  [[nodiscard]] double y_of(double share) const {
    return top + height * (1 - std::min(share / top_share_, 1.0));
  }

  void draw_channel(const HistogramColumns& channel, const HistogramLook& look) {
    std::vector<ChartPoint> points;
    for (std::size_t i = 0; i < channel.size(); ++i)
      points.push_back({x_of(static_cast<double>(i)), y_of(channel.at(i))});
    canvas_.curve(stroke_of(look.series), points);
    if (look.is_line) return;
    points.push_back({points.back().x, top + height});
    points.push_back({points.front().x, top + height});
    canvas_.area(fill_of(look.series) + " faint", points);
  }

  void draw_share_axis() {
    for (const Scale::Tick& tick : Scale(0, 100 * top_share_, Scaling::linear).ticks()) {
      const double y = y_of(tick.value / 100);
      canvas_.line("grid", {left, y}, {left + width, y});
      canvas_.text("note", {left - 8, y + 5}, tick.label + " %", TextAnchor::end);
    }
  }

  void draw_value_axis() {
    const std::uint32_t values = (format_.max_sample() + 1) / columns;
    for (int quarter = 0; quarter <= 4; ++quarter) {
      const int column = std::min(quarter * columns / 4, columns - 1);
      const double x = x_of(column);
      const auto value =
          quarter == 4 ? format_.max_sample() : static_cast<std::uint32_t>(column) * values;
      canvas_.line("grid", {x, top}, {x, top + height});
      canvas_.line("frame", {x, top + height}, {x, top + height + 5});
      canvas_.text("note", {x, top + height + 22}, std::to_string(value), TextAnchor::middle);
    }
    canvas_.text("note", {left + width / 2, top + height + 46},
                 format_.depth == 8
                     ? "sample value, and the share of the pixels that have it"
                     : "sample value, and the share of the pixels in every 256 values",
                 TextAnchor::middle);
  }

  // A mark above every column that is higher than the panel.
  void draw_cuts() {
    bool any = false;
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      for (std::size_t column = 0; column < columns; ++column) {
        if (channels_[c].at(column) <= top_share_) continue;
        const double x = x_of(static_cast<double>(column));
        canvas_.area(fill_of(looks_[c].series),
                     {{x - 4, top - 3}, {x + 4, top - 3}, {x, top - 10}});
        any = true;
      }
    }
    if (!any) return;
    canvas_.text("note", {left + width, top - 20}, "\u25b2 higher than shown", TextAnchor::end);
  }

  void draw_legend() {
    const auto names = channel_names(format_);
    for (std::size_t c = 0; c < names.size(); ++c) {
      const double y = top + 14 + 26 * static_cast<double>(c);
      if (looks_[c].is_line) {
        canvas_.curve(stroke_of(looks_[c].series), {{legend_x, y - 5}, {legend_x + 14, y - 5}});
      } else {
        canvas_.rectangle(fill_of(looks_[c].series), {legend_x, y - 12}, 14, 12);
      }
      canvas_.text("note", {legend_x + 22, y}, names[c]);
    }
  }

  PixelFormat format_;
  std::vector<HistogramLook> looks_;
  std::vector<HistogramColumns> channels_;
  double top_share_ = 1;
  SvgCanvas canvas_;
};

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

std::string draw_histograms(const Histograms& histograms, const PixelFormat& format,
                            const std::string& title, const std::string& subtitle) {
  const std::string shown = printable_end(title, longest_title);
  return Plot(histograms, format, shown).draw(shown, subtitle);
}

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

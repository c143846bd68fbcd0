#include "chart/histogram_plot.hpp"

#include <algorithm>
#include <vector>

#include "base/format.hpp"
#include "base/printable.hpp"
#include "chart/chart_scale.hpp"
#include "chart/histogram_columns.hpp"
#include "chart/svg_canvas.hpp"

namespace gpufilter::lab {
namespace {

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

}  // namespace

std::string draw_histograms(const Histograms& histograms, const PixelFormat& format,
                            const std::string& title, const std::string& subtitle) {
  const std::string shown = printable_end(title, longest_title);
  return Plot(histograms, format, shown).draw(shown, subtitle);
}

}  // namespace gpufilter::lab

#include "app/histogram_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <vector>

#include "app/plot_canvas.hpp"
#include "base/format.hpp"

namespace gpufilter {
namespace {

constexpr PlotColor ground{22, 24, 29};
constexpr PlotColor panel{14, 15, 19};
constexpr PlotColor grid_color{46, 50, 58};
constexpr PlotColor frame_color{92, 98, 110};
constexpr PlotColor text_color{176, 182, 192};
constexpr PlotColor title_color{238, 240, 244};

// The panel: three pixels for each of 256 columns.
constexpr int columns = 256;
constexpr int column_width = 3;
constexpr int left = 76;
constexpr int top = 60;
constexpr int width = columns * column_width;
constexpr int height = 420;
constexpr int legend_x = left + width + 16;

struct Look {
  PlotColor color;
  bool is_line = false;  // in place of a filled area
};

std::vector<Look> looks_of(const PixelFormat& format) {
  std::vector<Look> looks{{{200, 204, 212}}};
  if (format.color_channels() == 3) looks = {{{236, 72, 72}}, {{70, 200, 96}}, {{72, 124, 255}}};
  if (format.has_alpha()) looks.push_back({{224, 196, 255}, true});
  return looks;
}

// Shares of the pixels, by column. A column stands for one value of 8 bits or 256 of 16 bits.
using Columns = std::array<double, columns>;

Columns columns_of(const Histogram& histogram) {
  const auto pixels =
      static_cast<double>(std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0}));
  const std::size_t values = histogram.size() / columns;
  Columns shares{};
  for (std::size_t i = 0; i < histogram.size(); ++i) {
    shares.at(i / values) += static_cast<double>(histogram[i]) / pixels;
  }
  return shares;
}

// What the top of the panel stands for: a little more than nearly all columns need. Peaks far above
// the others, as of black borders, are cut off.
double scale_of(const std::vector<Columns>& channels) {
  std::vector<double> shares;
  for (const Columns& channel : channels) {
    std::copy_if(channel.begin(), channel.end(), std::back_inserter(shares),
                 [](double share) { return share > 0; });
  }
  std::sort(shares.begin(), shares.end());
  const double usual = shares[(shares.size() - 1) * 98 / 100];
  return 1.08 * std::min(shares.back(), 1.5 * usual);
}

// A round distance for about five lines up to `range`.
double tick_distance(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 5)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (range / (factor * power) <= 6) return factor * power;
  }
  return 10 * power;
}

class Plot {
 public:
  Plot(const Histograms& histograms, const PixelFormat& format)
      : format_(format), looks_(looks_of(format)), canvas_(histogram_plot_size, ground) {
    for (const Histogram& histogram : histograms.channels)
      channels_.push_back(columns_of(histogram));
    // Alpha is often one and the same everywhere: it has no say in the scale of the colours.
    scale_ = scale_of({channels_.begin(), channels_.begin() + format.color_channels()});
  }

  Image draw(const std::string& title, const std::string& subtitle) {
    for (int y = 0; y < height; ++y)
      canvas_.horizontal(left, width, top + y, panel);
    draw_share_axis();
    draw_value_axis();
    for (int x = 0; x < width; ++x)
      draw_column(x);
    draw_frame();
    draw_cuts();
    draw_titles(title, subtitle);
    draw_legend();
    return canvas_.take();
  }

 private:
  // Pixels above the panel's bottom at `x`, along straight lines between the columns' middles.
  [[nodiscard]] double height_at(const Columns& channel, int x) const {
    const double place = (x + 0.5) / column_width - 0.5;
    const auto at = [&](double column) {
      return channel.at(static_cast<std::size_t>(std::clamp(column, 0.0, columns - 1.0)));
    };
    const double before = std::floor(place);
    const double share = at(before) + (at(before + 1) - at(before)) * (place - before);
    return share / scale_ * height;
  }

  void draw_column(int x) {
    for (int y = 0; y < height; ++y) {
      PlotColor light{};
      float cover = 0;
      for (std::size_t c = 0; c < channels_.size(); ++c) {
        if (looks_[c].is_line) continue;
        // 1 inside, 0 outside, in between at the upper edge.
        const double depth = height_at(channels_[c], x) - (height - 1 - y);
        const auto inside = static_cast<float>(std::clamp(depth, 0.0, 1.0));
        for (std::size_t i = 0; i < light.size(); ++i)
          light[i] += looks_[c].color[i] * inside;
        cover = std::max(cover, inside);
      }
      if (cover > 0) canvas_.blend(left + x, top + y, soften(light, cover), 0.9F * cover);
    }
    for (std::size_t c = 0; c < channels_.size(); ++c)
      draw_edge(channels_[c], looks_[c], x);
  }

  // Colours that add up to more than there is keep their hue; all three make a light grey.
  static PlotColor soften(PlotColor light, float cover) {
    const float most = std::max({light[0], light[1], light[2]}) / cover;
    const float factor = (most > 255 ? 255 / most : 1.0F) * 0.82F / cover;
    for (float& value : light)
      value *= factor;
    return light;
  }

  // A line about one and a half pixels thick along the curve, also where it is steep.
  void draw_edge(const Columns& channel, const Look& look, int x) {
    const double here = height_at(channel, x);
    const double beside = height_at(channel, std::min(x + 1, width - 1));
    const double low = std::min(here, beside) - 0.75;
    const double high = std::max(here, beside) + 0.75;
    if (high < 1.5 && !look.is_line) return;  // nothing is there: no line along the bottom
    for (int y = 0; y < height; ++y) {
      const double bottom = height - 1 - y;
      const double cover = std::min(high, bottom + 1) - std::max(low, bottom);
      if (cover > 0) {
        canvas_.blend(left + x, top + y, look.color, static_cast<float>(std::min(cover, 1.0)));
      }
    }
  }

  void draw_share_axis() {
    const double percent = 100 * scale_;
    const double distance = tick_distance(percent);
    const int digits = std::max(0, static_cast<int>(-std::floor(std::log10(distance) + 1e-9)));
    for (int i = 0; i * distance <= percent; ++i) {
      const int y =
          top + height - 1 - static_cast<int>(std::lround(i * distance / percent * height));
      if (y < top) break;
      canvas_.horizontal(left, width, y, grid_color);
      const std::string label = formatted("{:.{}f} %", i * distance, digits);
      canvas_.text(left - 8 - PlotCanvas::width_of(label), y - glyph_height / 2, label, text_color);
    }
  }

  void draw_value_axis() {
    for (int quarter = 0; quarter <= 4; ++quarter) {
      const int column = std::min(quarter * columns / 4, columns - 1);
      const int x = left + column * column_width + column_width / 2;
      const auto values = (format_.max_sample() + 1) / columns;
      const auto value =
          quarter == 4 ? format_.max_sample() : static_cast<std::uint32_t>(column) * values;
      if (quarter > 0 && quarter < 4) canvas_.vertical(x, top, height, grid_color);
      canvas_.vertical(x, top + height, 5, frame_color);
      const std::string label = std::to_string(value);
      canvas_.text(x - PlotCanvas::width_of(label) / 2, top + height + 9, label, text_color);
    }
    const std::string label = format_.depth == 8
                                  ? "sample value, and the share of the pixels that have it"
                                  : "sample value, and the share of the pixels in every 256 values";
    canvas_.text(left + (width - PlotCanvas::width_of(label)) / 2, top + height + 28, label,
                 text_color);
  }

  void draw_frame() {
    canvas_.vertical(left - 1, top, height + 1, frame_color);
    canvas_.horizontal(left - 1, width + 1, top + height, frame_color);
  }

  // A mark above every column that is higher than the panel, in the colours of its channels.
  void draw_cuts() {
    bool any = false;
    for (std::size_t column = 0; column < columns; ++column) {
      PlotColor light{};
      bool cut = false;
      for (std::size_t c = 0; c < channels_.size(); ++c) {
        if (channels_[c].at(column) <= scale_) continue;
        for (std::size_t i = 0; i < light.size(); ++i)
          light[i] = std::min(255.0F, light[i] + looks_[c].color[i]);
        cut = true;
      }
      if (cut) draw_cut(left + static_cast<int>(column) * column_width + 1, light);
      any = any || cut;
    }
    if (!any) return;
    const std::string note = "^ higher than shown";
    canvas_.text(left + width - PlotCanvas::width_of(note), top - 25, note, text_color);
  }

  void draw_cut(int x, const PlotColor& color) {
    for (int row = 0; row < 4; ++row)
      canvas_.horizontal(x - row, 2 * row + 1, top - 7 + row, color);
  }

  void draw_titles(const std::string& title, const std::string& subtitle) {
    constexpr std::size_t longest = (width - 100) / glyph_width;
    std::string shown = title;
    if (shown.size() > longest) {
      shown = shown.substr(0, longest / 2) + "..." + shown.substr(shown.size() - longest / 2);
    }
    canvas_.text(left, 14, shown, title_color);
    canvas_.text(left, 32, subtitle, text_color);
  }

  void draw_legend() {
    const auto names = channel_names(format_);
    for (std::size_t c = 0; c < names.size(); ++c) {
      const int y = top + 4 + 24 * static_cast<int>(c);
      const int thickness = looks_[c].is_line ? 2 : 11;
      for (int row = 0; row < thickness; ++row)
        canvas_.horizontal(legend_x, 14, y + 6 - thickness / 2 + row, looks_[c].color);
      canvas_.text(legend_x + 22, y, names[c], text_color);
    }
  }

  PixelFormat format_;
  std::vector<Look> looks_;
  std::vector<Columns> channels_;
  double scale_ = 1;
  PlotCanvas canvas_;
};

}  // namespace

Image draw_histograms(const Histograms& histograms, const PixelFormat& format,
                      const std::string& title, const std::string& subtitle) {
  return Plot(histograms, format).draw(title, subtitle);
}

}  // namespace gpufilter

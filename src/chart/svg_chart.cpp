#include "chart/svg_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/format.hpp"
#include "base/printable.hpp"

namespace gpufilter::lab {
namespace {

constexpr double character_width = 7.4;

struct Palette {
  std::string_view ground, panel, grid, frame, note, title;
  std::array<std::string_view, 8> series;
};

// The contrast of each series with the panel is at least 3 to 1.
constexpr Palette light{
    "#ffffff",
    "#f6f8fa",
    "#d8dee4",
    "#8c959f",
    "#424a53",
    "#1f2328",
    {"#0969da", "#cf222e", "#1a7f37", "#9a6700", "#8250df", "#bc4c00", "#0b7285", "#57606a"}};
constexpr Palette dark{
    "#0d1117",
    "#161b22",
    "#30363d",
    "#6e7681",
    "#b1bac4",
    "#f0f6fc",
    {"#58a6ff", "#ff7b72", "#3fb950", "#d29922", "#bc8cff", "#ffa657", "#39c5cf", "#8b949e"}};

std::string colors_of(const Palette& palette) {
  std::string rules = formatted(
      ".ground{{fill:{0}}}.panel{{fill:{1}}}.grid{{stroke:{2}}}.frame{{stroke:{3}}}"
      ".note{{fill:{4}}}.title{{fill:{5}}}.mark{{stroke:{5}}}",
      palette.ground, palette.panel, palette.grid, palette.frame, palette.note, palette.title);
  for (std::size_t i = 0; i < palette.series.size(); ++i)
    rules += formatted(".s{0}{{stroke:{1}}}.f{0}{{fill:{1}}}", i, palette.series[i]);
  return rules;
}

std::string_view name_of(TextAnchor anchor) {
  static constexpr std::array<std::string_view, 3> names{"start", "middle", "end"};
  return names.at(static_cast<std::size_t>(anchor));
}

// A round distance for about five ticks over `range`.
double tick_distance(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 5)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (range / (factor * power) <= 6) return factor * power;
  }
  return 10 * power;
}

constexpr double margin = 24;
constexpr double heading = 96;     // above the panel: titles
constexpr double axis_space = 56;  // below it: labels of ticks and the axis
constexpr double label_space = 20;

void draw_titles(SvgCanvas& canvas, const ChartTitles& titles) {
  canvas.text("title", {margin, 34}, titles.title);
  canvas.text("note", {margin, 56}, titles.subtitle);
}

// The width of the labels of a chart's lines or bars.
template <typename Labelled>
double label_width(const std::vector<Labelled>& all) {
  double width = 0;
  for (const Labelled& each : all)
    width = std::max(width, SvgCanvas::width_of(each.label));
  return width;
}

// The part of the image that values are drawn in.
struct Panel {
  double left;
  double top;
  double width;
  double height;

  [[nodiscard]] double bottom() const { return top + height; }
  [[nodiscard]] double right() const { return left + width; }
};

class LineDrawing {
 public:
  explicit LineDrawing(const LineChart& chart)
      : chart_(chart),
        panel_{margin + 56, heading, width - 2 * margin - 56 - label_width(chart.lines) - 26,
               height - heading - axis_space},
        x_(scale([](const LineChart::Point& point) { return point.x; }, 1)),
        y_(scale([](const LineChart::Point& point) { return point.y; }, 1.25)),
        canvas_(static_cast<int>(width), static_cast<int>(height), chart.titles.title) {}

  std::string draw() {
    draw_titles(canvas_, chart_.titles);
    canvas_.rectangle("panel", {panel_.left, panel_.top}, panel_.width, panel_.height);
    draw_axes();
    for (std::size_t i = 0; i < chart_.lines.size(); ++i)
      draw_line(i);
    draw_labels();
    return canvas_.svg();
  }

 private:
  static constexpr double width = 1000;
  static constexpr double height = 560;

  template <typename Value>
  [[nodiscard]] Scale scale(const Value& value, double room) const {
    double low = value(chart_.lines.front().points.front());
    double high = low;
    for (const LineChart::Line& line : chart_.lines) {
      for (const LineChart::Point& point : line.points) {
        low = std::min(low, value(point));
        high = std::max(high, value(point));
      }
    }
    return {low / room, high * room, Scaling::logarithmic};
  }

  [[nodiscard]] ChartPoint at(const LineChart::Point& point) const {
    constexpr double inset = 14;
    return {panel_.left + inset + x_.place(point.x) * (panel_.width - 2 * inset),
            panel_.bottom() - y_.place(point.y) * panel_.height};
  }

  void draw_axes() {
    for (const Scale::Tick& tick : y_.ticks()) {
      const double y = panel_.bottom() - y_.place(tick.value) * panel_.height;
      canvas_.line("grid", {panel_.left, y}, {panel_.right(), y});
      canvas_.text("note", {panel_.left - 8, y + 5}, tick.label, TextAnchor::end);
    }
    std::set<double> values;
    for (const LineChart::Line& line : chart_.lines) {
      for (const LineChart::Point& point : line.points)
        values.insert(point.x);
    }
    double free_from = 0;
    for (const double value : values) {
      const double x = at({value, chart_.lines.front().points.front().y}).x;
      canvas_.line("frame", {x, panel_.bottom()}, {x, panel_.bottom() + 5});
      const std::string label = formatted("{:g}", value);
      const double half = SvgCanvas::width_of(label) / 2;
      if (x - half < free_from) continue;
      canvas_.text("note", {x, panel_.bottom() + 21}, label, TextAnchor::middle);
      free_from = x + half + 4;
    }
    canvas_.line("frame", {panel_.left, panel_.bottom()}, {panel_.right(), panel_.bottom()});
    canvas_.text("note", {panel_.left + panel_.width / 2, panel_.bottom() + 43}, chart_.titles.x,
                 TextAnchor::middle);
    canvas_.text("note", {panel_.left, panel_.top - 9}, chart_.titles.y);
    canvas_.text("note", {panel_.right(), panel_.top - 9}, chart_.dashed_label, TextAnchor::end);
  }

  void draw_line(std::size_t index) {
    const LineChart::Line& line = chart_.lines[index];
    std::vector<ChartPoint> points;
    for (const LineChart::Point& point : line.points)
      points.push_back(at(point));
    canvas_.curve(stroke_of(index) + (line.dashed ? " dashed" : ""), points);
    for (const ChartPoint& point : points)
      canvas_.dot(fill_of(index), point);
  }

  // Each line's label is at its end, moved far enough that no two overlap.
  void draw_labels() {
    struct Label {
      std::size_t line;
      ChartPoint end;
      double y;
    };
    std::vector<Label> labels;
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) {
      const ChartPoint end = at(chart_.lines[i].points.back());
      labels.push_back({i, end, end.y});
    }
    std::stable_sort(labels.begin(), labels.end(),
                     [](const Label& a, const Label& b) { return a.y < b.y; });
    for (std::size_t i = 1; i < labels.size(); ++i)
      labels[i].y = std::max(labels[i].y, labels[i - 1].y + label_space);
    double limit = panel_.bottom();
    for (std::size_t i = labels.size(); i-- > 0;) {
      labels[i].y = std::min(labels[i].y, limit);
      limit = labels[i].y - label_space;
    }
    for (const Label& label : labels) {
      const std::string stroke = stroke_of(label.line);
      const double x = panel_.right();
      canvas_.line(stroke, {label.end.x + 5, label.end.y}, {x + 18, label.y});
      canvas_.text(fill_of(label.line), {x + 22, label.y + 5}, chart_.lines[label.line].label);
    }
  }

  const LineChart& chart_;
  Panel panel_;
  Scale x_;
  Scale y_;
  SvgCanvas canvas_;
};

class BarDrawing {
 public:
  explicit BarDrawing(const BarChart& chart)
      : chart_(chart),
        panel_{margin_of(chart) + label_width(chart.bars) + 10, heading_of(chart) + label_space,
               panel_width(chart), bar_space * static_cast<double>(chart.bars.size()) + 8},
        scale_(0, highest() * room_for_number(), Scaling::linear),
        canvas_(static_cast<int>(panel_.right() + right_of(chart)),
                static_cast<int>(panel_.bottom() + axis_space), chart.titles.title) {}

  std::string draw() {
    if (!chart_.in_page) draw_titles(canvas_, chart_.titles);
    canvas_.rectangle("panel", {panel_.left, panel_.top}, panel_.width, panel_.height);
    draw_legend();
    draw_axis();
    for (std::size_t i = 0; i < chart_.bars.size(); ++i)
      draw_bar(chart_.bars[i], panel_.top + 4 + bar_space * static_cast<double>(i));
    draw_ceiling();
    return canvas_.svg();
  }

 private:
  static constexpr double bar_space = 30;
  static constexpr double bar_height = 20;

  // In a page, the panel does not shrink for long labels.
  static double panel_width(const BarChart& chart) {
    const double beside = margin_of(chart) + label_width(chart.bars) + 10 + right_of(chart);
    return chart.in_page ? std::max(320.0, 600 - beside) : 1000 - beside;
  }
  static double margin_of(const BarChart& chart) { return chart.in_page ? 4 : margin; }
  // Half of the number at the end of the axis may be there.
  static double right_of(const BarChart& chart) { return chart.in_page ? 20 : margin; }
  static double heading_of(const BarChart& chart) { return chart.in_page ? 18 : heading; }

  // Room for the number beside the longest bar.
  [[nodiscard]] double room_for_number() const {
    constexpr double number_width = 50;
    return std::max(1.1, panel_.width / (panel_.width - number_width));
  }

  [[nodiscard]] double highest() const {
    double high = chart_.ceiling ? chart_.ceiling->value : 0;
    for (const BarChart::Bar& bar : chart_.bars)
      high = std::max({high, bar.value, bar.mark.value_or(0)});
    return high;
  }

  [[nodiscard]] double x_of(double value) const {
    return panel_.left + scale_.place(value) * panel_.width;
  }

  [[nodiscard]] bool has_bars(std::size_t group) const {
    return std::any_of(chart_.bars.begin(), chart_.bars.end(),
                       [=](const BarChart::Bar& bar) { return bar.group == group; });
  }

  void draw_legend() {
    double x = panel_.left;
    const double y = panel_.top - label_space - 10 + (chart_.in_page ? 14 : 0);
    for (std::size_t i = 0; i < chart_.groups.size(); ++i) {
      if (chart_.groups[i].empty() || !has_bars(i)) continue;
      canvas_.rectangle(fill_of(i), {x, y - 11}, 12, 12);
      canvas_.text("note", {x + 18, y}, chart_.groups[i]);
      x += SvgCanvas::width_of(chart_.groups[i]) + 42;
    }
    if (chart_.mark_label.empty()) return;
    canvas_.line("mark", {x + 6, y - 12}, {x + 6, y + 2});
    canvas_.text("note", {x + 18, y}, chart_.mark_label);
  }

  void draw_axis() {
    for (const Scale::Tick& tick : scale_.ticks()) {
      const double x = x_of(tick.value);
      canvas_.line("grid", {x, panel_.top}, {x, panel_.bottom()});
      canvas_.text("note", {x, panel_.bottom() + 20}, tick.label, TextAnchor::middle);
    }
    canvas_.line("frame", {panel_.left, panel_.top}, {panel_.left, panel_.bottom()});
    canvas_.text("note", {panel_.left + panel_.width / 2, panel_.bottom() + 42}, chart_.titles.x,
                 TextAnchor::middle);
  }

  void draw_bar(const BarChart::Bar& bar, double y) {
    const double end = x_of(bar.value);
    const double top = y + (bar_space - bar_height) / 2;
    const double baseline = top + bar_height / 2 + 5;
    canvas_.text("note", {panel_.left - 10, baseline}, bar.label, TextAnchor::end);
    canvas_.rectangle(fill_of(bar.group), {panel_.left, top}, end - panel_.left, bar_height);
    if (bar.mark) {
      const double x = x_of(*bar.mark);
      canvas_.line("mark", {x, top - 3}, {x, top + bar_height + 3});
    }
    const double after = std::max(end, bar.mark ? x_of(*bar.mark) : end);
    canvas_.text("note", {after + 7, baseline}, short_number(bar.value));
  }

  void draw_ceiling() {
    if (!chart_.ceiling) return;
    const double x = x_of(chart_.ceiling->value);
    canvas_.line("mark dashed", {x, panel_.top - 6}, {x, panel_.bottom()});
    canvas_.text("note", {x, panel_.top - 10},
                 formatted("{} {}", chart_.ceiling->label, short_number(chart_.ceiling->value)),
                 TextAnchor::end);
  }

  const BarChart& chart_;
  Panel panel_;
  Scale scale_;
  SvgCanvas canvas_;
};

}  // namespace

std::string chart_style_sheet() {
  return formatted(
      "text{{font:14px system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}}"
      ".title{{font-size:18px;font-weight:600}}.curve{{fill:none;stroke-width:2.2;"
      "stroke-linejoin:round}}.dashed{{stroke-dasharray:6 4}}.mark{{stroke-width:2}}"
      ".faint{{fill-opacity:.38}}{}\n@media (prefers-color-scheme:dark){{{}}}",
      colors_of(light), colors_of(dark));
}

std::string escaped_markup(std::string_view text) {
  return with_words_for(printable(text),
                        {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}});
}

SvgCanvas::SvgCanvas(int width, int height, std::string_view title)
    : head_(formatted("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                      "viewBox=\"0 0 {0} {1}\" role=\"img\">\n<title>{2}</title>\n"
                      "<style>{3}</style>\n"
                      "<rect class=\"ground\" width=\"{0}\" height=\"{1}\"/>\n",
                      width, height, escaped_markup(title), chart_style_sheet())) {}

void SvgCanvas::rectangle(std::string_view looks, ChartPoint corner, double width, double height) {
  body_ += formatted(
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n", looks,
      corner.x, corner.y, width, height);
}

void SvgCanvas::line(std::string_view looks, ChartPoint from, ChartPoint to) {
  body_ +=
      formatted("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                looks, from.x, from.y, to.x, to.y);
}

void SvgCanvas::curve(std::string_view looks, const std::vector<ChartPoint>& points) {
  path(formatted("curve {}", looks), points, false);
}

void SvgCanvas::area(std::string_view looks, const std::vector<ChartPoint>& points) {
  path(looks, points, true);
}

void SvgCanvas::path(std::string_view looks, const std::vector<ChartPoint>& points, bool closed) {
  std::string way;
  for (const ChartPoint& point : points)
    way += formatted("{}{:.1f} {:.1f}", way.empty() ? "M" : "L", point.x, point.y);
  body_ += formatted("<path class=\"{}\" d=\"{}{}\"/>\n", looks, way, closed ? "Z" : "");
}

void SvgCanvas::dot(std::string_view looks, ChartPoint center) {
  body_ += formatted("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\"/>\n", looks,
                     center.x, center.y);
}

void SvgCanvas::text(std::string_view looks, ChartPoint place, std::string_view text,
                     TextAnchor anchor) {
  body_ += formatted("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
                     looks, place.x, place.y, name_of(anchor), escaped_markup(text));
}

std::string SvgCanvas::svg() const {
  return head_ + body_ + "</svg>\n";
}

double SvgCanvas::width_of(std::string_view text) {
  return character_width * static_cast<double>(text.size());
}

std::string stroke_of(std::size_t series) {
  return formatted("s{}", series % light.series.size());
}

std::string fill_of(std::size_t series) {
  return formatted("f{}", series % light.series.size());
}

std::string short_number(double value) {
  const double size = std::abs(value);
  if (size >= 99.95 || size == 0) return formatted("{:.0f}", value);
  if (size >= 9.95) return formatted("{:.1f}", value);
  if (size >= 1e-4) return formatted("{:#.2g}", value);
  return formatted("{:.1e}", value);
}

Scale::Scale(double low, double high, Scaling scaling) : low_(low), high_(high), scaling_(scaling) {
  if (low_ < high_) return;
  low_ = scaling == Scaling::linear ? low - 1 : low / 2;
  high_ = scaling == Scaling::linear ? low + 1 : low * 2;
}

double Scale::place(double value) const {
  if (scaling_ == Scaling::linear) return (value - low_) / (high_ - low_);
  return std::log(value / low_) / std::log(high_ / low_);
}

std::vector<Scale::Tick> Scale::ticks() const {
  if (scaling_ == Scaling::linear) return linear_ticks();
  const auto powers = logarithmic_ticks({1});
  return powers.size() < 3 ? logarithmic_ticks({1, 2, 5}) : powers;
}

std::vector<Scale::Tick> Scale::linear_ticks() const {
  const double distance = tick_distance(high_ - low_);
  const int digits = std::max(0, static_cast<int>(-std::floor(std::log10(distance) + 1e-9)));
  std::vector<Tick> ticks;
  for (double i = std::ceil(low_ / distance - 1e-9); i * distance <= high_ * (1 + 1e-9); ++i)
    ticks.push_back({i * distance, formatted("{:.{}f}", i * distance + 0.0, digits)});  // no "-0"
  return ticks;
}

std::vector<Scale::Tick> Scale::logarithmic_ticks(const std::vector<double>& factors) const {
  std::vector<Tick> ticks;
  for (double power = std::floor(std::log10(low_)); std::pow(10, power) <= high_; ++power) {
    for (const double factor : factors) {
      const double value = factor * std::pow(10, power);
      if (value < low_ * (1 - 1e-9) || value > high_ * (1 + 1e-9)) continue;
      ticks.push_back({value, value < 1 ? formatted("{:g}", value) : formatted("{:.0f}", value)});
    }
  }
  return ticks;
}

std::string draw(const LineChart& chart) {
  return LineDrawing(chart).draw();
}

std::string draw(const BarChart& chart) {
  return BarDrawing(chart).draw();
}

}  // namespace gpufilter::lab

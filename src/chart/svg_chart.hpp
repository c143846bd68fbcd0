// Charts of measurements as SVG files, which follow the viewer's light or dark theme.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufilter::lab {

struct ChartPoint {
  double x = 0;  // pixels from the left
  double y = 0;  // pixels from the top
};

enum class TextAnchor { start, middle, end };

// An SVG image without scripts and external references. It is light, or dark if the viewer prefers
// that. The looks of its elements are classes of its style sheet:
//   grid, frame, mark     lines
//   panel, key            areas
//   note, title           words
//   s0 ... s7, f0 ... f7  the stroke or the fill of a series, by its number
//   curve, dashed, faint  lines along points, dashed lines, translucent areas
class SvgCanvas {
 public:
  // Screen readers read `title`.
  SvgCanvas(int width, int height, std::string_view title);

  void rectangle(std::string_view looks, ChartPoint corner, double width, double height);
  void line(std::string_view looks, ChartPoint from, ChartPoint to);
  void curve(std::string_view looks, const std::vector<ChartPoint>& points);
  void area(std::string_view looks, const std::vector<ChartPoint>& points);
  void dot(std::string_view looks, ChartPoint center);
  // The text's baseline begins, is centred or ends at `place`.
  void text(std::string_view looks, ChartPoint place, std::string_view text,
            TextAnchor anchor = TextAnchor::start);

  // The finished file.
  [[nodiscard]] std::string svg() const;

  // The approximate width of a text in pixels; viewers choose the font.
  [[nodiscard]] static double width_of(std::string_view text);

 private:
  void path(std::string_view looks, const std::vector<ChartPoint>& points, bool closed);

  std::string head_;
  std::string body_;
};

// The style sheet of these looks, for pages that hold images without one.
[[nodiscard]] std::string chart_style_sheet();

// `text` as it is shown by XML and HTML: printable(), with the characters of markup escaped. For
// values of attributes too.
[[nodiscard]] std::string escaped_markup(std::string_view text);

// "s3": the looks of series number `series`; they repeat after eight.
[[nodiscard]] std::string stroke_of(std::size_t series);
[[nodiscard]] std::string fill_of(std::size_t series);

enum class Scaling { linear, logarithmic };

// The positions of values between the ends of an axis.
class Scale {
 public:
  // A scale from `low` to `high`, which have to be above 0 if it is logarithmic. Equal ends are
  // moved apart.
  Scale(double low, double high, Scaling scaling);

  // 0 at the low end, 1 at the high end.
  [[nodiscard]] double place(double value) const;

  struct Tick {
    double value;
    std::string label;
  };
  // Round values between the ends: about five if linear; powers of ten if logarithmic, with 2 and 5
  // between them if there are fewer than three.
  [[nodiscard]] std::vector<Tick> ticks() const;

 private:
  [[nodiscard]] std::vector<Tick> linear_ticks() const;
  [[nodiscard]] std::vector<Tick> logarithmic_ticks(const std::vector<double>& factors) const;

  double low_;
  double high_;
  Scaling scaling_;
};

// A number for people: "1200", "12.5", "0.0041".
[[nodiscard]] std::string short_number(double value);

struct ChartTitles {
  std::string title;
  std::string subtitle;
  std::string x;  // the quantities on the axes, with units
  std::string y;
};

// A level that values cannot or should not exceed: a line across the chart.
struct Ceiling {
  double value = 0;
  std::string label;
};

// Both axes are logarithmic, so all values are above 0.
struct LineChart {
  struct Point {
    double x = 0;
    double y = 0;
  };
  struct Line {
    std::string label;  // written at the end of the line
    std::vector<Point> points;
    bool dashed = false;
  };
  ChartTitles titles;
  std::vector<Line> lines;        // at least one, each of at least one point
  std::string dashed_label = {};  // the meaning of dashed lines
};
[[nodiscard]] std::string draw(const LineChart& chart);
// In characters, at most `columns` wide; a letter stands for each line of one point, dots for the
// others.
[[nodiscard]] std::string draw_as_text(const LineChart& chart, std::size_t columns);

// Horizontal bars from 0, in their order from top to bottom.
struct BarChart {
  struct Bar {
    std::string label;
    double value = 0;
    std::size_t group = 0;       // in `groups`
    std::optional<double> mark;  // a line across the bar: the ideal value
  };
  ChartTitles titles;
  std::vector<std::string> groups;  // one colour each
  std::vector<Bar> bars;
  std::string mark_label;  // for the legend; empty if no bar has a mark
  std::optional<Ceiling> ceiling;
  // For a page that shows the titles itself: the chart is narrower and has only the axis's title.
  bool in_page = false;
};
[[nodiscard]] std::string draw(const BarChart& chart);

}  // namespace gpufilter::lab

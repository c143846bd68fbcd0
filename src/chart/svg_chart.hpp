// Charts of measurements as SVG files, which follow the viewer's light or dark theme.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gpufilter::lab {

enum class Scaling { linear, logarithmic };

// The positions of values between the ends of an axis.
class Scale {
 public:
  // From `low` to `high`, which are above 0 if the scaling is logarithmic. Equal ends are moved
  // apart.
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
  std::string x;  // what is on the axes, with the unit
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
  // For a page that has the titles beside the chart: it is narrower and shows only that of the
  // axis.
  bool in_page = false;
};
[[nodiscard]] std::string draw(const BarChart& chart);

}  // namespace gpufilter::lab

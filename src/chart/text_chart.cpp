#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "chart/svg_chart.hpp"

namespace gpufilter::lab {
namespace {

constexpr std::size_t rows = 16;
constexpr std::size_t labels = 9;  // columns left of the panel

class TextDrawing {
 public:
  TextDrawing(const LineChart& chart, std::size_t columns)
      : chart_(chart),
        width_(columns - labels),
        panel_(rows, std::string(width_, ' ')),
        x_(scale(&LineChart::Point::x)),
        y_(scale(&LineChart::Point::y)) {}

  std::string draw() {
    std::string key;
    char letter = 'A';
    for (const LineChart::Line& line : chart_.lines) {
      for (std::size_t i = 1; i < line.points.size(); ++i)
        dots(line.points[i - 1], line.points[i]);
    }
    for (const LineChart::Line& line : chart_.lines) {
      if (line.points.size() > 1) {
        key += formatted("  .  {}\n", line.label);
        continue;
      }
      put(x_.place(line.points[0].x), y_.place(line.points[0].y), letter);
      key += formatted("  {}  {}\n", letter, line.label);
      letter = letter == 'Z' ? 'A' : static_cast<char>(letter + 1);
    }
    return chart_.titles.y + "\n" + framed() + key;
  }

 private:
  [[nodiscard]] Scale scale(double LineChart::Point::*value) const {
    const auto& first = chart_.lines.front().points.front();
    double low = first.*value, high = low;
    for (const LineChart::Line& line : chart_.lines) {
      for (const LineChart::Point& point : line.points) {
        low = std::min(low, point.*value);
        high = std::max(high, point.*value);
      }
    }
    return {low, high, Scaling::logarithmic};
  }

  // The place from 0 to 1 among `count` characters.
  static std::size_t at(double place, std::size_t count) {
    return static_cast<std::size_t>(std::lround(place * static_cast<double>(count - 1)));
  }
  void put(double x, double y, char mark) { panel_[rows - 1 - at(y, rows)][at(x, width_)] = mark; }

  void dots(const LineChart::Point& from, const LineChart::Point& to) {
    const double x = x_.place(from.x), y = y_.place(from.y);
    const double across = x_.place(to.x) - x, up = y_.place(to.y) - y;
    const std::size_t steps = std::max<std::size_t>(1, at(std::abs(across), width_) / 2);
    for (std::size_t i = 0; i <= steps; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(steps);
      put(x + share * across, y + share * up, '.');
    }
  }

  [[nodiscard]] std::string framed() const {
    std::vector<std::string> left(rows);
    for (const Scale::Tick& tick : y_.ticks())
      left[rows - 1 - at(y_.place(tick.value), rows)] = tick.label;
    std::string below(width_ + labels, ' ');
    for (const Scale::Tick& tick : x_.ticks()) {
      const std::size_t place =
          std::min(at(x_.place(tick.value), width_), width_ - tick.label.size());
      below.replace(labels + place, tick.label.size(), tick.label);
    }
    below.erase(below.find_last_not_of(' ') + 1);
    std::string text;
    for (std::size_t i = 0; i < rows; ++i) {
      std::string line = formatted("{:>7} |{}", left[i], panel_[i]);
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    return formatted("{}{:>8}{}\n{}\n{:>8} {}\n", text, "+", std::string(width_, '-'), below, "",
                     chart_.titles.x);
  }

  const LineChart& chart_;
  std::size_t width_;
  std::vector<std::string> panel_;
  Scale x_;
  Scale y_;
};

}  // namespace

std::string draw_as_text(const LineChart& chart, std::size_t columns) {
  return TextDrawing(chart, columns).draw();
}

}  // namespace gpufilter::lab

// Lines, areas and text of a chart as SVG.
#pragma once

#include <cstddef>
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
  // The baseline of the text begins, has its middle or ends at `place`.
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

}  // namespace gpufilter::lab

#include "chart/svg_canvas.hpp"

#include <array>

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
  std::string safe;
  for (const char c : printable(std::string(text))) {
    if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '"') {
      safe += "&quot;";
    } else {
      safe += c;
    }
  }
  return safe;
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

}  // namespace gpufilter::lab

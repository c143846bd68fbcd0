// --curve: a tone curve through points.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/point/lookup.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr size_t most_points = 64;

struct CurvePoint {
  double x = 0;
  double y = 0;
};
using CurvePoints = std::vector<CurvePoint>;

// The slope at an end, of three points: that of the parabola through them, unless it would make the
// curve turn. `near` and `far` are the widths of the two intervals, with their slopes.
double end_slope(double near, double far, double near_slope, double far_slope) {
  const double slope = ((2 * near + far) * near_slope - near * far_slope) / (near + far);
  if (slope * near_slope <= 0) return 0;
  if (near_slope * far_slope < 0 && std::abs(slope) > 3 * std::abs(near_slope))
    return 3 * near_slope;
  return slope;
}

// F. N. Fritsch, J. Butland: A Method for Constructing Local Monotone Piecewise Cubic Interpolants,
// SIAM Journal on Scientific and Statistical Computing 5(2), 1984: the slope at a point is the
// weighted harmonic mean of those beside it, 0 where these have different signs.
class MonotoneCubic {
 public:
  explicit MonotoneCubic(CurvePoints points) : points_(std::move(points)), slopes_(points_.size()) {
    const size_t last = points_.size() - 1;
    if (last == 1) {
      slopes_[0] = slopes_[1] = slope(0);
      return;
    }
    for (size_t i = 1; i < last; ++i) {
      const double before = slope(i - 1);
      const double after = slope(i);
      const double to_before = 2 * width(i) + width(i - 1);
      const double to_after = width(i) + 2 * width(i - 1);
      if (before * after > 0)
        slopes_[i] = (to_before + to_after) / (to_before / before + to_after / after);
    }
    slopes_[0] = end_slope(width(0), width(1), slope(0), slope(1));
    slopes_[last] = end_slope(width(last - 1), width(last - 2), slope(last - 1), slope(last - 2));
  }

  // Before the first point and after the last, the curve is flat.
  [[nodiscard]] double at(double x) const {
    if (x <= points_.front().x) return points_.front().y;
    if (x >= points_.back().x) return points_.back().y;
    size_t i = 0;
    while (x >= points_[i + 1].x)
      ++i;
    const double h = width(i);
    const double t = x - points_[i].x;
    const double c = (3 * slope(i) - 2 * slopes_[i] - slopes_[i + 1]) / h;
    const double b = (slopes_[i] - 2 * slope(i) + slopes_[i + 1]) / (h * h);
    return points_[i].y + t * (slopes_[i] + t * (c + t * b));
  }

 private:
  [[nodiscard]] double width(size_t i) const { return points_[i + 1].x - points_[i].x; }
  [[nodiscard]] double slope(size_t i) const {
    return (points_[i + 1].y - points_[i].y) / width(i);
  }

  CurvePoints points_;
  std::vector<double> slopes_;
};

double share_of(const std::string& words, std::string_view text) {
  const double share = parse_number(words, text);
  if (share < 0 || share > 1) throw UsageError(formatted("{}: {} is not from 0 to 1", words, text));
  return share;
}

CurvePoints parse_points(const std::string& value) {
  const std::string words = "--curve '" + printable(value) + "'";
  CurvePoints points;
  std::string_view rest = value;
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\n"), rest.size()));
    if (rest.empty()) break;
    const std::string_view point = rest.substr(0, rest.find_first_of(" \t\n"));
    rest.remove_prefix(point.size());
    const size_t comma = point.find(',');
    if (comma == std::string_view::npos)
      throw UsageError(words +
                       ": write points as X,Y with blanks between them, \"0,0 0.5,0.6 1,1\"");
    points.push_back(
        {share_of(words, point.substr(0, comma)), share_of(words, point.substr(comma + 1))});
    if (points.size() > 1 && points[points.size() - 2].x >= points.back().x)
      throw UsageError(formatted("{}: {} is not right of the point before it", words, point));
  }
  if (points.size() < 2 || points.size() > most_points)
    throw UsageError(formatted("{}: a curve takes 2 to {} points", words, most_points));
  return points;
}

std::vector<std::uint16_t> curve_table(const MonotoneCubic& curve, const PixelFormat& pixel) {
  const double max = pixel.max_sample();
  std::vector<std::uint16_t> table(pixel.max_sample() + 1);
  for (size_t i = 0; i < table.size(); ++i) {
    const double y = curve.at(static_cast<double>(i) / max) * max;
    table[i] = static_cast<std::uint16_t>(std::clamp(std::nearbyint(y), 0.0, max));
  }
  return table;
}

std::shared_ptr<const Stage> make_curve(const CurvePoints& points) {
  std::string variant = "table";
  for (const CurvePoint& point : points)
    variant += formatted(" {},{}", point.x, point.y);
  return make_lookup({"curve", variant, [curve = MonotoneCubic(points)](const PixelFormat& pixel) {
                        return curve_table(curve, pixel);
                      }});
}

}  // namespace

StageKind curve_stage_kind() {
  return {
      .option = "--curve",
      .type = FreeText{"POINTS",
                       {{"POINTS",
                         "two or more X,Y from 0 to 1, from left to right, with blanks between "
                         "them: \"0,0 0.25,0.2 0.75,0.8 1,1\""}}},
      .help =
          "Apply a tone curve. It goes smoothly through the points without overshooting; X is "
          "the sample, Y the result, 1 is white.",
      .formula =
          "out = round(max * curve(x / max)), halves to even; the same for all colour channels\n"
          "curve is the monotone piecewise cubic of Fritsch and Butland (1984), flat beside the "
          "first and last points; x are the samples as stored, max is 255 or 65535; double "
          "precision.",
      .edges = "None: a pixel depends on no other pixel.",
      .alpha = "Does not change and has no influence.",
      .examples = {"in.jpg out.jpg --curve \"0,0 0.25,0.2 0.75,0.8 1,1\""},
      .sample_values = {"0,0 0.25,0.15 0.8,0.9 1,1", "0.1,1 0.9,0"},
      .from_options = [](const OptionValues& values) {
        return make_curve(parse_points(values.text("--curve")));
      }};
}

}  // namespace gpufilter

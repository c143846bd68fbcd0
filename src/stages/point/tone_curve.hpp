// --curve: tone curves through points.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_cursor.hpp"

namespace gpufilter {

// A piecewise cubic through points, flat before the first and after the last.
class CubicCurve {
 public:
  struct Point {
    double x = 0;
    double y = 0;
    bool operator==(const Point&) const = default;
  };
  using Points = std::vector<Point>;

  // F. N. Fritsch, J. Butland: A Method for Constructing Local Monotone Piecewise Cubic
  // Interpolants, SIAM Journal on Scientific and Statistical Computing 5(2), 1984: it rises where
  // the points rise and never overshoots. Here and below, at least two points; x rises.
  [[nodiscard]] static CubicCurve monotone(Points points);
  // The natural cubic spline: its second derivative is continuous, and 0 at both ends.
  [[nodiscard]] static CubicCurve natural(Points points);

  [[nodiscard]] double at(double x) const;
  [[nodiscard]] const Points& points() const { return points_; }

 private:
  CubicCurve(Points points, std::vector<double> slopes)
      : points_(std::move(points)), slopes_(std::move(slopes)) {}

  Points points_;
  std::vector<double> slopes_;  // at the points
};

// A colour sample goes through its channel's curve, and then through that of all channels.
struct ToneCurves {
  std::optional<CubicCurve> all = std::nullopt;
  std::array<std::optional<CubicCurve>, 3> colors = {};
};

// "0,0 0.5,0.6 1,1 r:0,0 1,0.9": points of all channels, after "r:", "g:" or "b:" of one. Throws
// UsageError.
[[nodiscard]] ToneCurves parse_tone_curves(const std::string& text);

// Photoshop's curves, as the Adobe Photoshop File Formats Specification describes .acv files: the
// composite's, red's, green's and blue's; others are left out. `name` is the file's, for messages.
// Throws UsageError.
[[nodiscard]] ToneCurves parse_photoshop_curves(ByteSpan bytes, const std::string& name);

}  // namespace gpufilter

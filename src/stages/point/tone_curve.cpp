// --curve: tone curves through points.
#include "stages/point/tone_curve.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/point/lookup.hpp"

namespace gpufilter {
namespace {

using std::size_t;
using CurvePoints = CubicCurve::Points;

constexpr size_t most_points = 64;

// The widths of the intervals between points, and the slopes of the straight lines there.
struct Intervals {
  explicit Intervals(const CurvePoints& points) {
    for (size_t i = 0; i + 1 < points.size(); ++i) {
      widths.push_back(points[i + 1].x - points[i].x);
      slopes.push_back((points[i + 1].y - points[i].y) / widths[i]);
    }
  }
  std::vector<double> widths;
  std::vector<double> slopes;
};

// The slope at an end, of three points: that of the parabola through them, unless it would make the
// curve turn. `near` and `far` are the widths of the two intervals, with their slopes.
double end_slope(double near, double far, double near_slope, double far_slope) {
  const double slope = ((2 * near + far) * near_slope - near * far_slope) / (near + far);
  if (slope * near_slope <= 0) return 0;
  if (near_slope * far_slope < 0 && std::abs(slope) > 3 * std::abs(near_slope))
    return 3 * near_slope;
  return slope;
}

}  // namespace

// The slope at a point is the weighted harmonic mean of those beside it, 0 where these have
// different signs.
CubicCurve CubicCurve::monotone(Points points) {
  const auto [widths, lines] = Intervals(points);
  const size_t last = points.size() - 1;
  if (last == 1) return {std::move(points), {lines[0], lines[0]}};
  std::vector<double> slopes(points.size());
  for (size_t i = 1; i < last; ++i) {
    const double to_before = 2 * widths[i] + widths[i - 1];
    const double to_after = widths[i] + 2 * widths[i - 1];
    if (lines[i - 1] * lines[i] > 0)
      slopes[i] = (to_before + to_after) / (to_before / lines[i - 1] + to_after / lines[i]);
  }
  slopes[0] = end_slope(widths[0], widths[1], lines[0], lines[1]);
  slopes[last] = end_slope(widths[last - 1], widths[last - 2], lines[last - 1], lines[last - 2]);
  return {std::move(points), std::move(slopes)};
}

// The slopes solve a system of three diagonals, by elimination from the first row on.
CubicCurve CubicCurve::natural(Points points) {
  const auto [widths, lines] = Intervals(points);
  const size_t last = points.size() - 1;
  std::vector<double> above(points.size());
  std::vector<double> slopes(points.size());
  above[0] = 0.5;
  slopes[0] = 1.5 * lines[0];
  for (size_t i = 1; i < points.size(); ++i) {
    const double before = 1 / widths[i - 1];
    const double after = i < last ? 1 / widths[i] : 0;
    const double right = 3 * (lines[i - 1] * before + (i < last ? lines[i] * after : 0));
    const double pivot = 2 * (before + after) - before * above[i - 1];
    above[i] = after / pivot;
    slopes[i] = (right - before * slopes[i - 1]) / pivot;
  }
  for (size_t i = last; i-- > 0;)
    slopes[i] -= above[i] * slopes[i + 1];
  return {std::move(points), std::move(slopes)};
}

double CubicCurve::at(double x) const {
  if (x <= points_.front().x) return points_.front().y;
  if (x >= points_.back().x) return points_.back().y;
  size_t i = 0;
  while (x >= points_[i + 1].x)
    ++i;
  const double h = points_[i + 1].x - points_[i].x;
  const double line = (points_[i + 1].y - points_[i].y) / h;
  const double t = x - points_[i].x;
  const double c = (3 * line - 2 * slopes_[i] - slopes_[i + 1]) / h;
  const double b = (slopes_[i] - 2 * line + slopes_[i + 1]) / (h * h);
  return points_[i].y + t * (slopes_[i] + t * (c + t * b));
}

namespace {

double share_of(const std::string& words, std::string_view text) {
  const double share = parse_number(words, text);
  if (share < 0 || share > 1) throw UsageError(formatted("{}: {} is not from 0 to 1", words, text));
  return share;
}

void add_point(CurvePoints& points, const std::string& words, std::string_view text) {
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos)
    throw UsageError(
        formatted("{}: write points as X,Y with blanks between them, \"0,0 0.5,0.6 1,1\", or name "
                  "an .acv file",
                  words));
  points.push_back(
      {share_of(words, text.substr(0, comma)), share_of(words, text.substr(comma + 1))});
  if (points.size() > 1 && points[points.size() - 2].x >= points.back().x)
    throw UsageError(formatted("{}: {} is not right of the point before it", words, text));
}

// The place for the curve of "r:", "g:", "b:"; of all channels without.
std::optional<CubicCurve>& curve_named(ToneCurves& curves, std::string_view name) {
  constexpr std::string_view letters = "rgb";
  return name.empty() ? curves.all : curves.colors.at(letters.find(name[0]));
}

bool names_channel(std::string_view word) {
  return word.size() >= 2 && word[1] == ':' &&
         std::string_view("rgb").find(word[0]) != std::string_view::npos;
}

}  // namespace

ToneCurves parse_tone_curves(const std::string& text) {
  const std::string words = "--curve '" + printable(text) + "'";
  ToneCurves curves;
  std::string_view name;
  CurvePoints points;
  const auto end_curve = [&] {
    if (points.size() < 2 || points.size() > most_points)
      throw UsageError(formatted("{}: a curve takes 2 to {} points", words, most_points));
    auto& curve = curve_named(curves, name);
    if (curve) throw UsageError(formatted("{}: two curves for {}", words, name.substr(0, 1)));
    curve = CubicCurve::monotone(std::move(points));
    points.clear();
  };
  for (std::string_view rest = text; true;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\n"), rest.size()));
    if (rest.empty()) break;
    std::string_view word = rest.substr(0, rest.find_first_of(" \t\n"));
    rest.remove_prefix(word.size());
    if (names_channel(word)) {
      if (!name.empty() || !points.empty()) end_curve();
      name = word.substr(0, 2);
      word.remove_prefix(2);
      if (word.empty()) continue;
    }
    add_point(points, words, word);
  }
  end_curve();
  return curves;
}

ToneCurves parse_photoshop_curves(ByteSpan bytes, const std::string& name) {
  const auto require = [&name](bool holds) {
    if (!holds) throw UsageError(name + ": is not a file with Photoshop's curves (.acv)");
  };
  ByteCursor cursor(bytes);
  const std::uint64_t version = cursor.number(2);
  const std::uint64_t count = cursor.number(2);
  require((version == 1 || version == 4) && count > 0);
  ToneCurves curves;
  for (std::uint64_t curve = 0; curve < std::min<std::uint64_t>(count, 4); ++curve) {
    constexpr std::uint64_t most = 19;
    const std::uint64_t size = cursor.number(2);
    require(size >= 2 && size <= most && cursor.rest().size() >= 4 * size);
    CurvePoints points;
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::uint64_t y = cursor.number(2);
      const std::uint64_t x = cursor.number(2);
      require(x <= 255 && y <= 255);
      points.push_back({static_cast<double>(x) / 255, static_cast<double>(y) / 255});
      require(i == 0 || points[i - 1].x < points[i].x);
    }
    curve_named(curves, curve == 0 ? "" : std::string_view("rgb").substr(curve - 1, 1)) =
        CubicCurve::natural(std::move(points));
  }
  return curves;
}

namespace {

// The curve of a channel, then that of all; either may be missing.
void add_table(std::vector<std::uint16_t>& tables, const std::optional<CubicCurve>& channel,
               const std::optional<CubicCurve>& all, const PixelFormat& pixel) {
  const double max = pixel.max_sample();
  for (std::uint32_t i = 0; i <= pixel.max_sample(); ++i) {
    double y = i / max;
    for (const auto* curve : {&channel, &all}) {
      if (*curve) y = std::clamp((*curve)->at(y), 0.0, 1.0);
    }
    tables.push_back(static_cast<std::uint16_t>(std::nearbyint(y * max)));
  }
}

class Curve final : public Stage {
 public:
  // `label` and `key`: what was requested, for reports, and all of it.
  Curve(ToneCurves curves, std::string label, std::string key)
      : curves_(std::move(curves)), label_(std::move(label)), key_(std::move(key)) {}

  [[nodiscard]] std::string name() const override { return "curve"; }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] std::string key() const override { return key_; }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    const bool is_colored =
        std::ranges::any_of(curves_.colors, [](const auto& curve) { return curve.has_value(); });
    const bool is_grey = context.shape.format.color_channels() == 1;
    if (is_grey && !curves_.all) return {};
    return {.steps = {make_lookup(
                {"curve", "table " + label_,
                 [curves = curves_, each = is_colored && !is_grey](const PixelFormat& pixel) {
                   std::vector<std::uint16_t> tables;
                   for (size_t c = 0; c < (each ? 3 : 1); ++c)
                     add_table(tables, each ? curves.colors.at(c) : std::nullopt, curves.all,
                               pixel);
                   return tables;
                 }})}};
  }

 private:
  ToneCurves curves_;
  std::string label_;
  std::string key_;
};

std::string key_of(const ToneCurves& curves) {
  std::string key = "curve";
  for (const auto* curve : {&curves.all, &curves.colors[0], &curves.colors[1], &curves.colors[2]}) {
    key += " /";
    if (!*curve) continue;
    for (const CubicCurve::Point& point : (*curve)->points())
      key += formatted(" {},{}", point.x, point.y);
  }
  return key;
}

std::shared_ptr<const Stage> curve_from_options(const OptionValues& values) {
  const std::string& value = values.text("--curve");
  if (!value.ends_with(".acv") && !value.ends_with(".ACV")) {
    const ToneCurves curves = parse_tone_curves(value);
    return std::make_shared<Curve>(curves, value, key_of(curves));
  }
  constexpr std::uint64_t largest = 65536;
  const ToneCurves curves =
      parse_photoshop_curves(as_bytes(read_stage_bytes(value, largest)), value);
  return std::make_shared<Curve>(curves, std::filesystem::path(value).filename(),
                                 "natural " + key_of(curves));
}

}  // namespace

StageKind curve_stage_kind() {
  return {
      .option = "--curve",
      .type = FreeText{"POINTS|FILE",
                       {{"POINTS",
                         "two or more X,Y from 0 to 1, from left to right, with blanks between "
                         "them: \"0,0 0.25,0.2 0.75,0.8 1,1\"; after r:, g: or b: for one channel: "
                         "\"r:0,0 0.5,0.6 1,1 b:0,0 1,0.9\""},
                        {"FILE", "curves of Photoshop, .acv"}}},
      .help =
          "Apply a tone curve. It goes smoothly through the points without overshooting; X is "
          "the sample, Y the result, 1 is white.",
      .formula =
          "out = round(max * all(own(x / max))), halves to even\n"
          "own is the channel's curve, all that of all channels, each limited to 0..1: the "
          "monotone "
          "piecewise cubic of Fritsch and Butland (1984), for .acv the natural cubic spline; flat "
          "beside the first and last points. x are the samples as stored, max is 255 or 65535; "
          "double precision.",
      .edges = "None: a pixel depends on no other pixel.",
      .alpha =
          "Does not change and has no influence. Grey pictures have the curve of all channels.",
      .examples = {"in.jpg out.jpg --curve \"0,0 0.25,0.2 0.75,0.8 1,1\""},
      .sample_values = {"0,0 0.25,0.15 0.8,0.9 1,1", "0.1,1 0.9,0",
                        "0,0.1 1,0.9 r:0,0 0.5,0.7 1,1 b:0,0.2 1,1"},
      .from_options = curve_from_options};
}

}  // namespace gpufilter

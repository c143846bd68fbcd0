#include <algorithm>
#include <array>

#include "generator/scenery.hpp"

namespace gpufilter::samples {
namespace {

struct Range {
  double foot;       // y of the lowest points of its crest
  double height;     // of its peaks above them
  double frequency;  // of its peaks
  double haze;       // how much of the air's colour lies over it
  double snow;       // y above which snow lies; 0 for none
  Color rock;
  Color meadow;
  std::uint32_t seed;
};

constexpr std::array<Range, 4> ranges{{
    {0.470, 0.30, 1.9, 0.62, 0.36, {0.32, 0.33, 0.42}, {0.34, 0.36, 0.42}, 310},
    {0.520, 0.19, 2.5, 0.46, 0.0, {0.24, 0.27, 0.34}, {0.22, 0.28, 0.30}, 431},
    {0.560, 0.14, 2.1, 0.27, 0.0, {0.17, 0.21, 0.24}, {0.17, 0.24, 0.21}, 520},
    {0.590, 0.085, 1.7, 0.12, 0.0, {0.11, 0.15, 0.15}, {0.13, 0.18, 0.13}, 611},
}};

double crest(const Range& range, double x) {
  const double peaks = ridged_noise(x * range.frequency + 0.37, 0.5, 3, range.seed);
  const double detail = fractal_noise(x * range.frequency * 9.0, 0.5, 5, range.seed + 50);
  return range.foot - range.height * (peaks * 0.85 + 0.16 * detail - 0.12);
}

// The slope's brightness: crests of noise lit from the sun's side.
double slope_light(const Range& range, double x, double y, double below) {
  const double scale = range.frequency * 3.6;
  const double u = x * scale + below * 3.0;
  const double v = y * scale * 1.3;
  const double here = ridged_noise(u, v, 4, range.seed + 7);
  const double sunward = ridged_noise(u + 0.07, v - 0.05, 4, range.seed + 7);
  return clamp_unit(0.50 + 1.9 * (here - sunward));
}

Color slope_color(const Range& range, double x, double y, double below) {
  const double light = slope_light(range, x, y, below);
  const double cover = fractal_noise(x * 22.0, y * 30.0, 2, range.seed + 80);
  Color color = mix(range.rock, range.meadow, smoothstep(0.35, 0.65, cover + below * 1.2));
  color = color * (0.62 + 0.72 * light);
  if (range.snow > 0.0) {
    const double patchy = range.snow + 0.10 * (cover - 0.5) + 0.16 * (light - 0.5);
    const Color snow = mix(Color{0.52, 0.56, 0.70}, Color{1.0, 0.93, 0.86}, light);
    color = mix(color, snow, smoothstep(patchy + 0.012, patchy - 0.012, y));
  }
  // The air: warmer and brighter below the sun, thicker towards the valleys.
  const double dx = x - sun_x;
  const Color air =
      mix(Color{0.58, 0.63, 0.72}, Color{0.99, 0.80, 0.60}, 1.0 / (1.0 + dx * dx / 0.09));
  return mix(color, air,
             clamp_unit(range.haze + (1.0 - range.haze) * 0.55 * smoothstep(0.0, 0.20, below)));
}

}  // namespace

void paint_mountains(Canvas& canvas) {
  const double scale = 1.0 / canvas.height();
  for (const Range& range : ranges) {
    for (int x = 0; x < canvas.width(); ++x) {
      const double top = crest(range, x * scale) / scale;
      for (int y = std::max(static_cast<int>(top), 0); y * scale < water_line; ++y) {
        const double below = (y - top) * scale;
        const Color color = slope_color(range, x * scale, y * scale, std::max(below, 0.0));
        canvas.at(x, y) = mix(canvas.at(x, y), color, clamp_unit(y + 1.0 - top));
      }
    }
  }
}

}  // namespace gpufilter::samples

#include "generator/scenery.hpp"

namespace gpufilter::samples {
namespace {

constexpr Color sunlight{1.0, 0.86, 0.62};

Color clear_sky(double y) {
  constexpr Color zenith{0.15, 0.26, 0.47};
  constexpr Color middle{0.42, 0.55, 0.71};
  constexpr Color low{0.89, 0.76, 0.64};
  constexpr Color horizon{0.99, 0.80, 0.56};
  Color color = mix(zenith, middle, smoothstep(0.0, 0.30, y));
  color = mix(color, low, smoothstep(0.12, 0.42, y));
  return mix(color, horizon, smoothstep(0.34, 0.56, y));
}

// How thick the clouds are at a place, 0..1. They lie in a layer overhead, which perspective
// presses together towards the horizon.
double cloud_density(double x, double y) {
  const double distance = 0.42 / (water_line + 0.14 - y);
  const double across = (x - 0.75) * distance * 4.2 + 7.3;
  const double away = distance * 9.0;
  const double bend = 1.1 * fractal_noise(across * 0.8, away * 0.8, 3, 900);
  const double value = fractal_noise(across + bend, away + 0.6 * bend, 5, 100);
  const double bank = fractal_noise(across * 0.33, away * 0.33, 2, 200);
  return smoothstep(0.49, 0.78, value * 0.70 + bank * 0.46);
}

Color sky_color(double x, double y) {
  Color color = clear_sky(y);
  const double dx = x - sun_x;
  const double dy = (y - sun_y) * 1.15;
  const double squared = dx * dx + dy * dy;
  color = mix(color, sunlight, 0.75 / (1.0 + squared / 0.030));

  const double density = cloud_density(x, y);
  // A cloud is bright where it thins out towards the sun.
  const double distance = std::sqrt(squared) + 0.05;
  const double toward = cloud_density(x - dx / distance * 0.014, y - dy / distance * 0.014);
  const double light =
      clamp_unit(0.60 + 1.2 * (density - toward) - 0.30 * density + 0.30 / (1.0 + squared / 0.08));
  const Color cloud = mix(Color{0.43, 0.43, 0.54}, Color{1.0, 0.88, 0.74}, light);
  color = mix(color, cloud, density * 0.88 * smoothstep(0.57, 0.40, y));

  const double disc = smoothstep(0.0185, 0.0165, std::sqrt(dx * dx + (y - sun_y) * (y - sun_y)));
  color = mix(color, Color{1.0, 0.97, 0.86}, disc);
  return mix(color, Color{1.0, 0.95, 0.80}, 0.6 / (1.0 + squared / 0.0012));
}

}  // namespace

void paint_sky(Canvas& canvas) {
  const double scale = 1.0 / canvas.height();
  for (int y = 0; y * scale < water_line; ++y) {
    for (int x = 0; x < canvas.width(); ++x) {
      canvas.at(x, y) = sky_color(x * scale, y * scale);
    }
  }
}

}  // namespace gpufilter::samples

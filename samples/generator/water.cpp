#include "generator/scenery.hpp"

namespace gpufilter::samples {

void paint_water(Canvas& canvas) {
  const double scale = 1.0 / canvas.height();
  const int shore = static_cast<int>(water_line * canvas.height());
  for (int y = shore; y < canvas.height(); ++y) {
    const double depth = (y + 0.5 - shore) * scale;  // 0 at the far shore
    // Waves look flatter and smaller with distance.
    const double away = 1.0 / (depth + 0.035);
    for (int x = 0; x < canvas.width(); ++x) {
      const double across = (x * scale - 0.75) * away;
      const double waves = fractal_noise(across * 2.2 + 40.0, away * 5.5, 3, 1500) - 0.5;
      const double calm = smoothstep(0.35, 0.65, noise(across * 0.25 + 9.0, away * 0.9, 1600));
      const double strength = depth * (0.35 + 0.65 * calm);
      const double from_x = x + waves * strength * 90.0;
      const double from_y = shore - 1 - (depth * 0.97 + waves * strength * 0.34) * canvas.height();
      Color color = canvas.sample(from_x, from_y < shore - 1 ? from_y : shore - 1.0);
      // The nearer, the more one looks into the water instead of along it.
      const double into = clamp_unit(0.13 + 0.75 * depth + waves * strength * 1.4);
      color = mix(color, Color{0.055, 0.125, 0.165}, into);
      const double dx = x * scale - sun_x;
      const double glitter =
          smoothstep(0.10, 0.26, waves) / (1.0 + dx * dx / (0.002 + 0.02 * depth));
      color = color + Color{1.0, 0.80, 0.52} * (0.55 * glitter * smoothstep(0.0, 0.05, depth));
      canvas.at(x, y) = color;
    }
  }
}

}  // namespace gpufilter::samples

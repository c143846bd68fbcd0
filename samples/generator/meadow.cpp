#include "generator/scenery.hpp"

namespace gpufilter::samples {
namespace {

// y of the water's near edge.
double bank(double x) {
  const double middle = x - 0.80;
  return 0.925 - 0.085 * middle * middle / 0.5 +
         0.035 * (fractal_noise(x * 5.0, 0.5, 4, 2000) - 0.5);
}

void paint_ground(Canvas& canvas) {
  const double scale = 1.0 / canvas.height();
  for (int x = 0; x < canvas.width(); ++x) {
    const double edge = bank(x * scale);
    for (int y = static_cast<int>(edge * canvas.height()); y < canvas.height(); ++y) {
      const double below = y * scale - edge;
      const double patches = fractal_noise(x * scale * 9.0, y * scale * 30.0, 3, 2100);
      const Color earth = mix(Color{0.060, 0.070, 0.050}, Color{0.13, 0.14, 0.06}, patches);
      canvas.at(x, y) = mix(Color{0.075, 0.070, 0.060}, earth, smoothstep(0.0, 0.02, below));
    }
  }
}

void paint_blade(Canvas& canvas, double x, double y, double height, std::uint32_t seed) {
  const double lean = (random_unit(4, 0, seed) - 0.42) * height * 0.9;
  const double thickness = 0.7 + height * 0.018;
  const double dx = x / canvas.height() - sun_x;
  const double warmth = 0.45 + 0.55 / (1.0 + dx * dx / 0.12);
  const Color root{0.075, 0.100, 0.040};
  const Color tip = mix(Color{0.27, 0.36, 0.12}, Color{0.86, 0.72, 0.30},
                        warmth * (0.25 + 0.75 * random_unit(5, 0, seed)));
  const int rows = static_cast<int>(height);
  for (int row = 0; row < rows; ++row) {
    const double up = row / height;
    const double center = x + lean * up * up;
    const double half = 0.5 * thickness * (1.0 - up) + 0.25;
    canvas.paint_span(static_cast<int>(y) - row, center - half, center + half,
                      mix(root, tip, up * (0.25 + 0.75 * up)));
  }
}

void paint_flower(Canvas& canvas, double x, double y, double radius, std::uint32_t seed) {
  constexpr Color petals[] = {{0.93, 0.86, 0.70}, {0.86, 0.55, 0.24}, {0.70, 0.50, 0.72}};
  const Color color = petals[hash(6, 0, seed) % 3];
  for (int row = static_cast<int>(y - radius); row <= y + radius; ++row) {
    const double dy = (row + 0.5 - y) / radius;
    if (dy * dy >= 1.0) continue;
    const double half = radius * std::sqrt(1.0 - dy * dy);
    canvas.paint_span(row, x - half, x + half, color * (0.95 - 0.35 * dy));
  }
}

}  // namespace

void paint_meadow(Canvas& canvas) {
  paint_ground(canvas);
  // From the water's edge to the front, blades growing taller.
  constexpr int rows = 48;
  for (int row = 0; row < rows; ++row) {
    const double nearness = (row + 1.0) / rows;
    const int count = 330 - 200 * row / rows;
    for (int step = 0; step < count; ++step) {
      const auto seed = static_cast<std::uint32_t>(50000 + row * 1000 + step);
      const double x = (step + random_unit(7, 0, seed)) * canvas.width() / count;
      const double edge = bank(x / canvas.height());
      const double y = mix(edge + 0.004, 1.06, nearness * nearness) * canvas.height() +
                       6.0 * random_unit(8, 0, seed);
      const double tuft = noise(x / 60.0, row * 0.4, 2300);
      const double height = (8.0 + 95.0 * nearness * nearness) * (0.35 + 0.5 * tuft) *
                            (0.6 + 0.6 * random_unit(9, 0, seed));
      paint_blade(canvas, x, y, height, seed);
      if (hash(10, 0, seed) % 47 == 0) {
        paint_flower(canvas, x, y - height * 0.9, 0.9 + 2.6 * nearness, seed);
      }
    }
  }
}

}  // namespace gpufilter::samples

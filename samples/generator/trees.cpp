#include <algorithm>

#include "generator/scenery.hpp"

namespace gpufilter::samples {

void paint_tree(Canvas& canvas, const Tree& tree, std::uint32_t seed) {
  const double width = tree.height * (0.17 + 0.06 * random_unit(0, 0, seed));
  const double branches = 7.0 + 6.0 * random_unit(1, 0, seed) + tree.height / 30.0;
  const int top = tree.y - static_cast<int>(tree.height);
  for (int y = top; y <= tree.y; ++y) {
    const double down = (y - top) / tree.height;
    // Every branch hangs outwards until the next one begins above it.
    const double phase = down * branches + 0.35 * noise(y * 0.4, 0.0, seed);
    const double hang = phase - std::floor(phase);
    const double reach = width * down * (0.50 + 0.50 * hang);
    const double left = reach * (0.72 + 0.5 * noise(y * 0.9, 3.0, seed + 1)) + 0.35;
    const double right = reach * (0.72 + 0.5 * noise(y * 0.9, 7.0, seed + 2)) + 0.35;
    const double light = 0.35 * hang + 0.5 * noise(y * 0.5, 11.0, seed + 3);
    canvas.paint_span(y, tree.x - left, tree.x + right, mix(tree.shade, tree.lit, light * 0.45));
    canvas.paint_span(y, tree.x + right * 0.25, tree.x + right,
                      mix(tree.shade, tree.lit, 0.25 + light * 0.75), 0.8);
  }
}

void paint_far_shore(Canvas& canvas) {
  const int shore = static_cast<int>(water_line * canvas.height());
  constexpr int rows = 5;
  for (int row = 0; row < rows; ++row) {
    const double haze = 0.30 * (rows - 1 - row) / rows;
    for (int step = 0; step < 330; ++step) {
      const auto seed = static_cast<std::uint32_t>(10000 + row * 1000 + step);
      const double x = (step + random_unit(2, 0, seed)) * canvas.width() / 330.0;
      const double rise = noise(x / 170.0, row * 0.31, 77);
      const double dx = x / canvas.height() - sun_x;
      const double glow = 0.5 / (1.0 + dx * dx / 0.05);
      const Color air = mix(Color{0.50, 0.56, 0.60}, Color{0.95, 0.74, 0.50}, glow);
      const double up = (rows - 1 - row) * 13.0 * rise * rise;
      Tree tree{.x = x,
                .y = shore - static_cast<int>(up),
                .height = (15.0 + 26.0 * random_unit(3, 0, seed)) * (0.6 + 0.6 * rise),
                .shade = mix(Color{0.045, 0.085, 0.080}, air, haze),
                .lit = mix(Color{0.25, 0.27, 0.14}, air, haze + 0.25 * glow)};
      paint_tree(canvas, tree, seed);
    }
  }
}

namespace {

// A bough of a tree that is near enough to show its twigs: it reaches `reach` pixels sideways, to
// the left where that is negative, and twigs hang from it.
void paint_bough(Canvas& canvas, double x, double y, double reach, double light,
                 std::uint32_t seed) {
  constexpr Color shade{0.022, 0.045, 0.042};
  constexpr Color lit{0.27, 0.26, 0.12};
  const double length = std::fabs(reach);
  const int twigs = 4 + static_cast<int>(length * 0.75);
  for (int twig = 0; twig < twigs; ++twig) {
    const auto number = static_cast<std::uint32_t>(twig);
    const double along = (twig + random_unit(number, 1, seed)) / twigs;
    const double from_x = x + reach * along;
    // Down from the trunk, and up again at its end.
    const double from_y = y + length * (0.42 * along - 0.20 * along * along * along);
    const double hang =
        (2.0 + 0.20 * length * (1.0 - 0.6 * along)) * (0.5 + 0.9 * random_unit(number, 2, seed));
    const double lean = (random_unit(number, 3, seed) - 0.5 + 0.5 * reach / (length + 1.0)) * 0.7;
    const double brightness =
        light * (0.25 + 0.75 * along) * (0.5 + 0.5 * random_unit(number, 4, seed));
    const int rows = static_cast<int>(hang);
    for (int row = 0; row <= rows; ++row) {
      const double half = 0.35 + 0.75 * (1.0 - row / (hang + 1.0));
      const double center = from_x + lean * row;
      canvas.paint_span(static_cast<int>(from_y) + row, center - half, center + half,
                        mix(shade, lit, brightness * (1.0 - 0.5 * row / (hang + 1.0))));
    }
  }
}

void paint_large_tree(Canvas& canvas, double x, double y, double height, std::uint32_t seed) {
  for (int row = 0; row < static_cast<int>(height); ++row) {
    const double half = 0.6 + 0.011 * row;
    canvas.paint_span(static_cast<int>(y - height) + row, x - half, x + half,
                      {0.055, 0.045, 0.035});
  }
  constexpr int whorls = 46;
  for (int whorl = whorls; whorl-- > 0;) {
    const double down =
        0.012 +
        0.93 * (whorl + random_unit(0, 5, seed + static_cast<std::uint32_t>(whorl))) / whorls;
    const double widest = height * (0.015 + 0.20 * std::sqrt(down) * down + 0.03 * down);
    for (int bough = 0; bough < 9; ++bough) {
      const std::uint32_t number = seed + static_cast<std::uint32_t>(100 + whorl * 16 + bough);
      // Boughs point all round; seen from the side, most of them are foreshortened.
      const double side = 2.0 * random_unit(0, 6, number) - 1.0;
      const double reach = widest * side * (0.75 + 0.45 * random_unit(0, 7, number));
      const double light = clamp_unit(0.45 + 0.45 * side + 0.3 * (bough / 9.0));
      paint_bough(canvas, x, y - height * (1.0 - down), reach, light, number);
    }
  }
}

}  // namespace

void paint_near_trees(Canvas& canvas) {
  struct Place {
    double x;
    double y;
    double height;
  };
  constexpr Place places[] = {{0.030, 0.925, 0.52},
                              {0.250, 0.935, 0.36},
                              {0.135, 0.965, 0.74},
                              {1.455, 0.935, 0.41},
                              {1.375, 0.945, 0.25}};
  std::uint32_t seed = 400000;
  for (const Place& place : places) {
    paint_large_tree(canvas, place.x * canvas.height(), place.y * canvas.height(),
                     place.height * canvas.height(), seed);
    seed += 10000;
  }
}

}  // namespace gpufilter::samples

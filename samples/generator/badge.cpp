#include "generator/canvas.hpp"
#include "generator/pictures.hpp"

namespace gpufilter::samples {
namespace {

constexpr int side = 512;

// A colour weighted with its own opacity, which is how layers add up.
struct Layered {
  Color color;
  double opacity = 0.0;

  void cover(const Color& over, double over_opacity) {
    color = color * (1.0 - over_opacity) + over * over_opacity;
    opacity = opacity * (1.0 - over_opacity) + over_opacity;
  }
};

double distance(double dx, double dy) {
  return std::sqrt(dx * dx + dy * dy);
}

// How far (dx, dy) lies outside a square with round corners around the origin; inside: negative.
double outside_square(double dx, double dy, double half, double radius) {
  const double x = std::fabs(dx) - half + radius;
  const double y = std::fabs(dy) - half + radius;
  if (x < 0.0 || y < 0.0) return (x > y ? x : y) - radius;
  return distance(x, y) - radius;
}

// Nine squares, as sharp as can be on the left and blurred on the right.
void add_squares(Layered& pixel, double x, double y) {
  constexpr Color warm{1.0, 0.74, 0.34};
  constexpr Color cool{0.36, 0.78, 0.86};
  for (int row = -1; row <= 1; ++row) {
    for (int column = -1; column <= 1; ++column) {
      const double softness = column < 0 ? 0.7 : (column == 0 ? 9.0 : 22.0);
      const double outside =
          outside_square(x - 92.0 * column, y - 92.0 * row, 38.0, 10.0 + softness);
      const double away = distance(column, row) / 1.5;
      pixel.cover(mix(warm, cool, away), 0.96 * smoothstep(softness, -softness, outside));
    }
  }
}

Layered badge_pixel(double x, double y) {
  Layered pixel;
  pixel.cover({0.02, 0.03, 0.08}, 0.55 * smoothstep(250.0, 190.0, distance(x, y - 10.0)));
  const double radius = distance(x, y);
  const double up = (y + 208.0) / 416.0;
  pixel.cover(mix(Color{0.16, 0.34, 0.66}, Color{0.06, 0.10, 0.27}, clamp_unit(up)),
              smoothstep(208.7, 207.3, radius));
  pixel.cover({0.88, 0.94, 1.0},
              0.9 * smoothstep(188.3, 189.7, radius) * smoothstep(197.7, 196.3, radius));
  if (radius < 208.0) add_squares(pixel, x, y);
  const double gloss = distance(x * 0.8, y + 250.0);
  pixel.cover({1.0, 1.0, 1.0},
              0.20 * smoothstep(236.0, 150.0, gloss) * smoothstep(187.0, 183.0, radius));
  return pixel;
}

}  // namespace

Image draw_badge() {
  Image image(ImageSize{side, side}, {.channels = 4, .depth = 8});
  const MutableRows rows = image.rows();
  for (int y = 0; y < side; ++y) {
    std::uint8_t* out = rows.row(y);
    for (int x = 0; x < side; ++x) {
      const Layered pixel = badge_pixel(x + 0.5 - side / 2.0, y + 0.5 - side / 2.0);
      const Color color = pixel.opacity > 0.0 ? pixel.color * (1.0 / pixel.opacity) : Color{};
      for (const double value : {color.r, color.g, color.b, pixel.opacity}) {
        *out++ = static_cast<std::uint8_t>(to_sample(value, 255));
      }
    }
  }
  return image;
}

}  // namespace gpufilter::samples

// A picture while it is being drawn.
#pragma once

#include <cstddef>
#include <vector>

#include "generator/noise.hpp"
#include "image/image.hpp"

namespace gpufilter::samples {

// Red, green and blue, 0..1 of full scale.
struct Color {
  double r = 0.0;
  double g = 0.0;
  double b = 0.0;
};

[[nodiscard]] inline Color mix(const Color& a, const Color& b, double t) {
  return {mix(a.r, b.r, t), mix(a.g, b.g, t), mix(a.b, b.b, t)};
}
[[nodiscard]] inline Color operator*(const Color& c, double factor) {
  return {c.r * factor, c.g * factor, c.b * factor};
}
[[nodiscard]] inline Color operator+(const Color& a, const Color& b) {
  return {a.r + b.r, a.g + b.g, a.b + b.b};
}

class Canvas {
 public:
  explicit Canvas(ImageSize size) : size_(size), pixels_(size.pixels()) {}

  [[nodiscard]] int width() const { return size_.width; }
  [[nodiscard]] int height() const { return size_.height; }
  [[nodiscard]] Color& at(int x, int y) { return pixels_[index(x, y)]; }
  [[nodiscard]] const Color& at(int x, int y) const { return pixels_[index(x, y)]; }

  // The colour between pixels; beyond the edges, that of the edge.
  [[nodiscard]] Color sample(double x, double y) const;

  // Paints the part of row y between `left` and `right`, its end pixels according to how much of
  // them it covers. What lies outside the canvas is left out.
  void paint_span(int y, double left, double right, const Color& color, double opacity = 1.0);

  // As 8-bit RGB, in steps of two: nobody sees it, and the file is a quarter smaller.
  [[nodiscard]] Image to_image() const;

 private:
  [[nodiscard]] std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(size_.width) +
           static_cast<std::size_t>(x);
  }

  ImageSize size_;
  std::vector<Color> pixels_;
};

// 0..1 as an integer sample 0..max, to the nearest.
[[nodiscard]] inline std::uint32_t to_sample(double v, std::uint32_t max) {
  return static_cast<std::uint32_t>(std::lround(clamp_unit(v) * max));
}

}  // namespace gpufilter::samples

#include "generator/canvas.hpp"

#include <algorithm>

namespace gpufilter::samples {

Color Canvas::sample(double x, double y) const {
  const double clamped_x = std::clamp(x, 0.0, static_cast<double>(size_.width - 1));
  const double clamped_y = std::clamp(y, 0.0, static_cast<double>(size_.height - 1));
  const int left = static_cast<int>(clamped_x);
  const int top = static_cast<int>(clamped_y);
  const int right = std::min(left + 1, size_.width - 1);
  const int bottom = std::min(top + 1, size_.height - 1);
  const double across = clamped_x - left;
  return mix(mix(at(left, top), at(right, top), across),
             mix(at(left, bottom), at(right, bottom), across), clamped_y - top);
}

void Canvas::paint_span(int y, double left, double right, const Color& color, double opacity) {
  if (y < 0 || y >= size_.height) return;
  const double begin = std::max(left, 0.0);
  const double end = std::min(right, static_cast<double>(size_.width));
  for (int x = static_cast<int>(begin); x < end; ++x) {
    const double covered = std::min(end, x + 1.0) - std::max(begin, static_cast<double>(x));
    Color& pixel = at(x, y);
    pixel = mix(pixel, color, covered * opacity);
  }
}

Image Canvas::to_image() const {
  Image image(size_, {.channels = 3, .depth = 8});
  const MutableRows rows = image.rows();
  for (int y = 0; y < size_.height; ++y) {
    std::uint8_t* out = rows.row(y);
    for (int x = 0; x < size_.width; ++x) {
      const Color& color = at(x, y);
      for (const double value : {color.r, color.g, color.b}) {
        const std::uint32_t even = (to_sample(value, 255) + 1) / 2 * 2;
        *out++ = static_cast<std::uint8_t>(std::min(even, 255U));
      }
    }
  }
  return image;
}

}  // namespace gpufilter::samples

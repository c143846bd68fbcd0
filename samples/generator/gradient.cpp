#include <cstring>

#include "generator/canvas.hpp"
#include "generator/pictures.hpp"

namespace gpufilter::samples {
namespace {

Color gradient_color(double x, double y) {
  const Color top = mix(Color{0.05, 0.09, 0.30}, Color{0.42, 0.10, 0.44}, smoothstep(0.0, 1.0, x));
  const Color bottom =
      mix(Color{0.03, 0.47, 0.52}, Color{0.99, 0.62, 0.27}, smoothstep(0.0, 1.0, x));
  const Color color = mix(top, bottom, smoothstep(0.0, 1.0, y));
  const double dx = x - 0.68;
  const double dy = (y - 0.36) * 0.75;
  return mix(color, Color{1.0, 0.93, 0.80}, 0.85 / (1.0 + (dx * dx + dy * dy) / 0.025));
}

}  // namespace

Image draw_gradient() {
  const ImageSize size{320, 240};
  Image image(size, {.channels = 3, .depth = 16});
  const MutableRows rows = image.rows();
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t* out = rows.row(y);
    for (int x = 0; x < size.width; ++x) {
      const Color color = gradient_color((x + 0.5) / size.width, (y + 0.5) / size.height);
      for (const double value : {color.r, color.g, color.b}) {
        const auto sample = static_cast<std::uint16_t>(to_sample(value, 65535));
        std::memcpy(out, &sample, sizeof(sample));
        out += sizeof(sample);
      }
    }
  }
  return image;
}

}  // namespace gpufilter::samples

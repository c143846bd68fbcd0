#include <algorithm>

#include "generator/canvas.hpp"
#include "generator/pictures.hpp"
#include "generator/scenery.hpp"

namespace gpufilter::samples {

Image draw_landscape() {
  Canvas canvas({1920, 1280});
  paint_sky(canvas);
  paint_mountains(canvas);
  paint_far_shore(canvas);
  paint_water(canvas);
  paint_meadow(canvas);
  paint_near_trees(canvas);
  return canvas.to_image();
}

Image to_small_grey(const Image& picture) {
  const ConstRows from = picture.rows();
  const ImageSize size{(picture.width() + 2) / 3, (picture.size().height + 2) / 3};
  Image image(size, {.channels = 1, .depth = 8});
  const MutableRows to = image.rows();
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      std::uint32_t sum = 0;
      for (int part = 0; part < 9; ++part) {
        const int from_y = std::min(3 * y + part / 3, picture.size().height - 1);
        const int from_x = std::min(3 * x + part % 3, picture.width() - 1);
        const std::uint8_t* pixel = from.row(from_y) + 3 * static_cast<std::ptrdiff_t>(from_x);
        sum += 299U * pixel[0] + 587U * pixel[1] + 114U * pixel[2];
      }
      to.row(y)[x] = static_cast<std::uint8_t>((sum + 4500U) / 9000U);
    }
  }
  return image;
}

}  // namespace gpufilter::samples

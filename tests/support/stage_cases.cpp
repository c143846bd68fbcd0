#include "support/stage_cases.hpp"

#include "support/cut_out_image.hpp"
#include "support/pictures.hpp"

namespace gpufilter::test {

std::vector<PixelFormat> all_formats() {
  std::vector<PixelFormat> all;
  for (const int depth : {8, 16}) {
    for (const int channels : {1, 2, 3, 4})
      all.push_back({channels, depth});
  }
  return all;
}

std::vector<Image> different_pictures(ImageSize size, PixelFormat format) {
  std::vector<Image> pictures;
  pictures.push_back(random_image(size, format, 1));
  pictures.push_back(extreme_image(size, format, 2));
  if (format.has_alpha()) {
    pictures.push_back(mixed_alpha_image(size, format, 3));
    pictures.push_back(opaque_image(size, format, 4));
  }
  return pictures;
}

std::vector<Image> window_pictures(ImageSize size, PixelFormat format) {
  std::vector<Image> pictures = different_pictures(size, format);
  if (format.has_alpha()) pictures.push_back(cut_out_image(size, format, 5));
  return pictures;
}

}  // namespace gpufilter::test

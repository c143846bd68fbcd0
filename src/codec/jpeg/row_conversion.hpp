// Converts rows of any format to what JPEG can hold: 8 bits per sample, no alpha.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "image/color.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

class JpegRowConversion {
 public:
  // Transparent pixels are blended with `background`.
  JpegRowConversion(const PixelFormat& format, int width, const Color& background);

  // Returns `row` itself if there is nothing to convert; otherwise the result is valid until the
  // next call. Alpha is removed first, at the picture's own depth.
  [[nodiscard]] const std::uint8_t* convert(const std::uint8_t* row);

 private:
  PixelFormat format_;
  int width_;
  Color background_;
  std::size_t samples_;
  std::vector<std::uint8_t> flat_;
  std::vector<std::uint8_t> narrow_;
};

}  // namespace gpufilter

// Rows of any format as JPEG holds them: 8 bits a sample, no alpha.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "image/color.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

class JpegRowConversion {
 public:
  // `background` lies behind alpha.
  JpegRowConversion(const PixelFormat& format, int width, const Color& background);

  // `row` itself where nothing is to be converted; otherwise the result stays until the next call.
  // Alpha goes first, at the picture's own depth.
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

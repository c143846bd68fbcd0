// Converts rows of any format to what a file can hold.
#pragma once

#include <cstdint>
#include <vector>

#include "image/color.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

class RowConversion {
 public:
  // From rows `width` pixels wide of one format to the other, which has no greater depth, and alpha
  // only if the first one has it. Transparent pixels are blended with `background`.
  RowConversion(const PixelFormat& from, const PixelFormat& to, int width, const Color& background);

  // Returns `row` itself if there is nothing to convert; otherwise the result is valid until the
  // next call. Alpha is removed first, then colours are changed, both at the picture's own depth.
  [[nodiscard]] const std::uint8_t* convert(const std::uint8_t* row);

 private:
  PixelFormat from_;
  PixelFormat to_;
  int width_;
  Color background_;
  std::vector<std::uint8_t> flat_;
  std::vector<std::uint8_t> colored_;
  std::vector<std::uint8_t> narrow_;
};

}  // namespace gpufilter

// How a TIFF file holds its pixels, and what becomes of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "codec/ink_conversion.hpp"
#include "codec/tiff/library.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

struct TiffLayout {
  enum class Colors { grey, inverted_grey, palette, rgb, cmyk };

  std::uint32_t width = 0;
  std::uint32_t height = 0;
  Colors colors = Colors::grey;
  int bits = 8;     // of a stored sample
  int samples = 1;  // of a stored pixel
  bool premultiplied = false;
  int left_out_channels = 0;  // stored, but neither colours nor alpha
  std::vector<std::array<std::uint8_t, 3>> palette;
  std::shared_ptr<const InkConversion> ink;  // of CMYK; nullptr: cmyk_to_rgb()
  PixelFormat format;                        // of the rows that the reader yields
  FilePixels file_pixels;                    // for reports
};

// Of the current directory. Throws PictureError if such pixels are not supported.
[[nodiscard]] TiffLayout tiff_layout(const TiffFile& file);

// A stored row, its samples of a pixel side by side, becomes a row of the layout's format.
void convert_tiff_row(const TiffLayout& layout, const std::uint8_t* stored, std::uint8_t* row);

}  // namespace gpufilter

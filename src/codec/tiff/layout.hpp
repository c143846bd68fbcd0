// How a TIFF file holds its pixels, and what becomes of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "codec/ink_conversion.hpp"
#include "codec/read_limits.hpp"
#include "codec/tiff/directory.hpp"
#include "codec/tiff/library.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

struct TiffLayout {
  // ycbcr: libtiff converts it, to pixels of four bytes.
  enum class Colors { grey, inverted_grey, palette, rgb, cmyk, lab, icc_lab, ycbcr };
  enum class Samples { whole, with_sign, floating };

  std::uint32_t width = 0;
  std::uint32_t height = 0;
  Colors colors = Colors::grey;
  Samples kind = Samples::whole;
  int bits = 8;     // of a stored sample
  int samples = 1;  // of a stored pixel
  bool premultiplied = false;
  int left_out_channels = 0;  // stored, but neither colours nor alpha
  SampleRange range;          // of stored colours, what becomes 0 and the maximum
  std::vector<std::array<std::uint8_t, 3>> palette;
  std::shared_ptr<const InkConversion> ink;  // of CMYK; nullptr: (max - ink) (max - black) / max
  PixelFormat format;                        // of the rows that the reader yields
  FilePixels file_pixels;                    // for reports
  std::string guess = {};  // what was taken for granted, for a warning; empty: nothing

  // Whether each sample is brought from `range` to that of `format`.
  [[nodiscard]] bool has_range() const { return kind != Samples::whole || bits > 16; }
  [[nodiscard]] int color_samples() const;
};

// The layout of the first directory, whose fields are in `content`. Throws PictureError if such
// pixels are not supported.
[[nodiscard]] TiffLayout tiff_layout(const TiffFile& file, const TiffContent& content,
                                     const ReadLimits& limits);

}  // namespace gpufilter

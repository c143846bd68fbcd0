// The header of a PNG file. Nothing else reads it.
#pragma once

#include <array>
#include <cstdint>

#include "codec/byte_source.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

// The values of a valid IHDR chunk.
struct PngHeader {
  std::uint32_t width = 0;   // 1 to 2^31 - 1
  std::uint32_t height = 0;  // the same
  int depth = 0;             // bits a sample
  int color_type = 0;
  bool interlaced = false;
  // The format in which rows are read, unless a tRNS chunk adds alpha.
  PixelFormat format;
  FilePixels file_pixels;
  // The signature and the chunk as in the file, for libpng.
  std::array<std::uint8_t, 33> bytes{};
};

// Reads the signature and the IHDR chunk that follows it. Throws PictureError if the file ends, if
// another chunk is the first, or if the checksum or a value is wrong.
[[nodiscard]] PngHeader read_png_header(ByteSource& source);

}  // namespace gpufilter

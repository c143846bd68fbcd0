// The header of a PNG file, which is read in this one place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/byte_source.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

// What the IHDR chunk says, which PNG allows.
struct PngHeader {
  std::uint32_t width = 0;   // 1 to 2^31 - 1
  std::uint32_t height = 0;  // the same
  int depth = 0;             // bits a sample
  int color_type = 0;
  bool interlaced = false;
  // Of the rows as they are read, unless tRNS adds alpha.
  PixelFormat format;
  // The signature and the chunk as they stand in the file, for libpng.
  std::array<std::uint8_t, 33> bytes{};
};

// Reads the signature and the IHDR chunk that follows it. Throws PictureError where the file ends,
// where another chunk is the first, and where the checksum or a value is wrong.
[[nodiscard]] PngHeader read_png_header(ByteSource& source);

}  // namespace gpufilter

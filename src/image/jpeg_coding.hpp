// How a baseline JPEG codes its pixels: all that decides the entropy-coded data. The codec states
// it, a device carries it out, and neither knows the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "image/rows.hpp"

namespace gpufilter {

struct JpegHuffmanTable {
  std::array<std::uint8_t, 17> counts{};  // of codes of 1 to 16 bits; the first element is unused
  std::array<std::uint8_t, 256> symbols{};
};

// Maps the position of a coefficient in the file to its position in the block, row by row.
inline constexpr std::array<std::uint8_t, 64> jpeg_zigzag{
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

struct JpegScan {
  struct Component {
    std::array<std::uint8_t, 64> divisors{};  // row by row
    JpegHuffmanTable first;                   // of first coefficients (DC)
    JpegHuffmanTable others;                  // (AC)
  };

  ImageSize size;
  std::vector<Component> components;  // grey, or YCbCr interleaved
  // Samples of luma for one of chroma, along rows and along columns: 1 or 2.
  int horizontal = 1;
  int vertical = 1;
  std::uint32_t restart_interval = 0;  // MCUs between restart markers; 0: there are none

  // Upper bound of the scan's bytes.
  std::size_t max_bytes = 0;
  // Fills the memory, of max_bytes, with the scan's data and restart markers, and returns how many
  // bytes these are; 0 if it has other markers or ends too early. Throws PictureError.
  std::function<std::size_t(std::span<std::uint8_t>)> read = {};

  [[nodiscard]] ImageSize mcus() const {
    const int width = 8 * horizontal;
    const int height = 8 * vertical;
    return {(size.width + width - 1) / width, (size.height + height - 1) / height};
  }
  // Blocks of luma in an MCU, and of all components.
  [[nodiscard]] int luma_units() const { return horizontal * vertical; }
  [[nodiscard]] int units() const { return components.size() == 1 ? 1 : luma_units() + 2; }
};

struct JpegCoding {
  PictureShape picture;  // grey or RGB, no alpha; 16-bit samples are narrowed to 8 bits
  int horizontal = 1;    // samples of luma for one of chroma, along rows and along columns; for
  int vertical = 1;      // grey, 1
  std::array<std::array<std::uint8_t, 64>, 3> divisors{};  // of Y, Cb and Cr, row by row
  std::array<JpegHuffmanTable, 2> dc;                      // of luma and chroma
  std::array<JpegHuffmanTable, 2> ac;
  int interval_rows = 0;  // rows of MCUs between two restart markers; 0: there are none

  [[nodiscard]] constexpr int mcu_height() const { return 8 * vertical; }
  // Pixel rows of a restart interval, the last one of which may have fewer.
  [[nodiscard]] constexpr int rows_an_interval() const {
    return interval_rows == 0 ? picture.size.height : interval_rows * mcu_height();
  }
};

// The entropy-coded data of whole restart intervals. After each interval there are two bytes of
// room for a marker.
struct CodedRows {
  std::shared_ptr<std::uint8_t> memory;  // of `bytes`
  std::span<std::uint8_t> bytes;
  std::vector<std::size_t> ends;  // of each interval, the room included
  RowRange rows;
};

}  // namespace gpufilter

// How a baseline JPEG codes its pixels: all that decides the entropy-coded data. The codec states
// it, a device carries it out, and neither knows the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "image/jpeg_huffman_table.hpp"
#include "image/rows.hpp"

namespace gpufilter {

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

// The stored rows of a TIFF file, whatever blocks they are in.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/read_limits.hpp"
#include "codec/tiff/layout.hpp"
#include "codec/tiff/library.hpp"

namespace gpufilter {

class TiffRows {
 public:
  // Throws PictureError if the rows that have to be in memory together are more than `limits`
  // allow: a row of tiles, or of strips of separate planes.
  TiffRows(TiffFile& file, const TiffLayout& layout, const ReadLimits& limits);

  // The next row, its samples of a pixel side by side; valid until the next call.
  [[nodiscard]] const std::uint8_t* next();

 private:
  void read_blocks();
  void read_block(std::uint32_t x, std::uint16_t plane);
  void copy_block(std::uint32_t x, std::uint16_t plane);

  TiffFile& file_;
  TIFF* tiff_;
  bool is_tiled_;
  std::uint16_t planes_ = 1;
  std::uint32_t width_;
  std::uint32_t height_;
  std::uint32_t block_width_;
  std::uint32_t block_height_;
  std::size_t pixel_bits_;  // in a block
  std::size_t row_bytes_;   // of a row of all planes
  std::size_t block_row_bytes_ = 0;
  bool holds_blocks_ = false;  // otherwise rows are decoded one by one
  std::uint32_t y_ = 0;        // of the next row
  std::vector<std::uint8_t> block_;
  std::vector<std::uint8_t> rows_;  // block_height_ of them, or one
};

}  // namespace gpufilter

// The stored rows of a TIFF file, whatever blocks they are in.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "codec/read_limits.hpp"
#include "codec/tiff/conversion.hpp"
#include "codec/tiff/directory.hpp"
#include "codec/tiff/layout.hpp"
#include "codec/tiff/library.hpp"
#include "codec/tiff/zlib_check.hpp"

namespace gpufilter {

// The bytes of a file.
struct TiffInput {
  TiffReadAt read;
  std::uint64_t size = 0;
};

class TiffRows {
 public:
  // `read` reads the file's bytes. Throws PictureError if the rows that have to be in memory
  // together are more than `limits` allow: a row of tiles, of strips of separate planes, or of
  // pixels that libtiff converts. `input` has to outlive this object.
  TiffRows(TiffFile& file, const TiffLayout& layout, const ReadLimits& limits,
           const TiffInput& input);

  // The next row; valid until the next call. Throws PictureError, and again until the end of the
  // strip or the row of tiles; later rows may then follow.
  [[nodiscard]] TiffRow next();

 private:
  struct ImageEnd {
    void operator()(TIFFRGBAImage* image) const;
  };

  // Of a block.
  struct Place {
    std::uint32_t x;
    std::uint32_t y;
    std::uint32_t rows;
    std::uint16_t plane;
  };

  void begin_conversion();
  void check_bytes() const;
  void fit_into(std::uint64_t file_size);
  void reserve(const ReadLimits& limits);
  void read_scanline(std::uint32_t y);
  void read_blocks(std::uint32_t y);
  void read_block(const Place& place);
  void copy_tile(const Place& place);
  [[nodiscard]] std::uint8_t* row(std::size_t plane, std::size_t y);

  TiffFile& file_;
  TIFF* tiff_;
  bool is_tiled_;
  std::uint16_t planes_ = 1;
  std::uint32_t width_;
  std::uint32_t height_;
  std::uint32_t block_width_;
  std::uint32_t block_height_;
  std::size_t pixel_bits_;  // in a block
  std::size_t row_bytes_;   // of a row of a plane
  std::uint64_t block_bytes_ = 0;
  bool holds_blocks_ = false;  // otherwise rows are decoded one by one
  bool is_plain_;              // not compressed
  bool is_cut_ = false;        // the file ends within a block
  std::uint32_t y_ = 0;        // of the next row
  std::exception_ptr loss_;    // of the rows up to before lost_end_
  std::uint64_t lost_end_ = 0;
  std::unique_ptr<TIFFRGBAImage, ImageEnd> converted_;  // by libtiff; nullptr: not
  std::optional<ZlibCheck> zlib_;
  std::vector<std::uint8_t> tile_;
  std::vector<std::uint8_t> rows_;  // of each plane block_height_ ones, or one
  std::vector<const std::uint8_t*> row_;
};

}  // namespace gpufilter

#include "codec/tiff/rows.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.hpp"
#include "base/format.hpp"

namespace gpufilter {
namespace {

// A strip of this many bytes is decoded as a whole if its stream has a checksum: libtiff is then
// twice as fast.
constexpr std::uint64_t largest_whole_strip = std::uint64_t{128} << 20U;
constexpr std::size_t converted_bytes = 4;  // of a pixel

}  // namespace

TiffRows::TiffRows(TiffFile& file, const TiffLayout& layout, const ReadLimits& limits,
                   const TiffInput& input)
    : file_(file),
      tiff_(file.get()),
      is_tiled_(libtiff().TIFFIsTiled(tiff_) != 0),
      width_(layout.width),
      height_(layout.height),
      block_width_(is_tiled_ ? file.field<std::uint32_t>(TIFFTAG_TILEWIDTH) : width_),
      block_height_(std::min(height_, file.field<std::uint32_t>(TIFFTAG_ROWSPERSTRIP))) {
  const auto samples = static_cast<std::size_t>(layout.samples);
  if (samples > 1 && file.field<std::uint16_t>(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE)
    planes_ = static_cast<std::uint16_t>(samples);
  if (is_tiled_) block_height_ = file.field<std::uint32_t>(TIFFTAG_TILELENGTH);
  if (block_width_ == 0 || block_height_ == 0) file.refuse("its tiles or strips are empty");
  pixel_bits_ = static_cast<std::size_t>(layout.bits) * (planes_ > 1 ? 1 : samples);
  row_bytes_ = (width_ * pixel_bits_ + 7) / 8;
  block_bytes_ = static_cast<std::uint64_t>(is_tiled_ ? libtiff().TIFFTileSize64(tiff_)
                                                      : libtiff().TIFFStripSize64(tiff_));
  if (block_bytes_ == 0) file.refuse("its tiles or strips are empty");
  const auto compression = file.field<std::uint16_t>(TIFFTAG_COMPRESSION);
  is_plain_ = compression == COMPRESSION_NONE;
  if (compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE)
    zlib_.emplace(file, input.read, planes_ > 1 ? 1 : samples);
  if (layout.colors == TiffLayout::Colors::ycbcr) {
    begin_conversion();
  } else {
    check_bytes();
  }
  fit_into(input.size);
  reserve(limits);
}

void TiffRows::ImageEnd::operator()(TIFFRGBAImage* image) const {
  libtiff().TIFFRGBAImageEnd(image);
  delete image;
}

// libtiff would also turn the picture, unless it already lies as requested.
void TiffRows::begin_conversion() {
  std::array<char, 1024> why{};
  auto image = std::make_unique<TIFFRGBAImage>();
  if (libtiff().TIFFRGBAImageBegin(image.get(), tiff_, 1, why.data()) != 1)
    file_.refuse(formatted("libtiff cannot convert its colours: {}", why.data()));
  converted_.reset(image.release());
  converted_->req_orientation = converted_->orientation;
  row_bytes_ = std::size_t{width_} * converted_bytes;
}

// libtiff has to agree about the bytes, whatever the tags say.
void TiffRows::check_bytes() const {
  const auto row_bytes = static_cast<std::uint64_t>(
      is_tiled_ ? libtiff().TIFFTileRowSize64(tiff_) : libtiff().TIFFScanlineSize64(tiff_));
  const std::uint64_t expected = (std::uint64_t{block_width_} * pixel_bits_ + 7) / 8;
  const bool is_aligned = !is_tiled_ || block_width_ * pixel_bits_ % 8 == 0;
  if (row_bytes != expected || !is_aligned) file_.refuse("its tags contradict each other");
}

// libtiff reads blocks as a whole, and none of one that the file does not have to its end. It has
// no function that changes the number of their bytes.
void TiffRows::fit_into(std::uint64_t file_size) {
  const std::uint64_t* counts = nullptr;
  const ttag_t tag = is_tiled_ ? TIFFTAG_TILEBYTECOUNTS : TIFFTAG_STRIPBYTECOUNTS;
  if (libtiff().TIFFGetField(tiff_, tag, &counts) != 1) return;
  const std::uint32_t blocks =
      is_tiled_ ? libtiff().TIFFNumberOfTiles(tiff_) : libtiff().TIFFNumberOfStrips(tiff_);
  for (std::uint32_t i = 0; i < blocks; ++i) {
    const std::uint64_t begin = std::min(libtiff().TIFFGetStrileOffset(tiff_, i), file_size);
    if (counts[i] <= file_size - begin) continue;
    const_cast<std::uint64_t*>(counts)[i] = file_size - begin;
    is_cut_ = true;
  }
}

void TiffRows::reserve(const ReadLimits& limits) {
  const bool is_whole_strip = zlib_ && !is_cut_ && block_bytes_ <= largest_whole_strip;
  holds_blocks_ = is_tiled_ || planes_ > 1 || converted_ || is_whole_strip;
  row_.resize(converted_ ? 1 : planes_);
  const std::uint64_t rows =
      row_bytes_ * std::uint64_t{row_.size()} * (holds_blocks_ ? block_height_ : 1);
  const bool has_tiles = is_tiled_ && !converted_;
  const std::uint64_t held = rows + (has_tiles || converted_ ? block_bytes_ : 0);
  check_memory(file_.name(), std::max(held, block_bytes_), limits,
               "a row of tiles or planes of this TIFF", "save it in strips");
  if (has_tiles) tile_.resize(block_bytes_);
  rows_.resize(rows);
}

TiffRow TiffRows::next() {
  const std::uint32_t y = y_++;
  if (y < lost_end_) std::rethrow_exception(loss_);
  try {
    if (!holds_blocks_) {
      read_scanline(y);
    } else if (y % block_height_ == 0) {
      read_blocks(y);
    }
  } catch (const PictureError&) {
    loss_ = std::current_exception();
    lost_end_ = std::uint64_t{y} - y % block_height_ + block_height_;
    throw;
  }
  for (std::size_t plane = 0; plane < row_.size(); ++plane)
    row_[plane] = row(plane, holds_blocks_ ? y % block_height_ : 0);
  return row_;
}

std::uint8_t* TiffRows::row(std::size_t plane, std::size_t y) {
  return rows_.data() + (plane * (holds_blocks_ ? block_height_ : 1) + y) * row_bytes_;
}

void TiffRows::read_scanline(std::uint32_t y) {
  file_.check(libtiff().TIFFReadScanline(tiff_, rows_.data(), y, 0) == 1);
  const bool ends_strip = (y + 1) % block_height_ == 0 || y + 1 == height_;
  if (zlib_ && ends_strip) zlib_->expect_end(libtiff().TIFFComputeStrip(tiff_, y, 0));
}

void TiffRows::read_blocks(std::uint32_t y) {
  const std::uint32_t rows = std::min(block_height_, height_ - y);
  for (std::uint16_t plane = 0; plane < planes_; ++plane) {
    for (std::uint64_t x = 0; x < width_; x += block_width_)
      read_block({static_cast<std::uint32_t>(x), y, rows, plane});
  }
  if (!converted_) return;
  converted_->row_offset = static_cast<int>(y);
  auto* pixels = reinterpret_cast<std::uint32_t*>(rows_.data());
  file_.check(libtiff().TIFFRGBAImageGet(converted_.get(), pixels, width_, rows) == 1);
}

// Only checks those that libtiff converts. libtiff reads as many bytes as a block without
// compression should have, whatever the file says.
void TiffRows::read_block(const Place& place) {
  const auto& [x, y, rows, plane] = place;
  const std::uint32_t block = is_tiled_ ? libtiff().TIFFComputeTile(tiff_, x, y, 0, plane)
                                        : libtiff().TIFFComputeStrip(tiff_, y, plane);
  const auto size =
      static_cast<tmsize_t>(is_tiled_ ? block_bytes_ : libtiff().TIFFVStripSize64(tiff_, rows));
  const std::uint64_t stored = libtiff().TIFFGetStrileByteCount(tiff_, block);
  if (is_plain_ && stored < static_cast<std::uint64_t>(size))
    file_.refuse(formatted("block {} has {} bytes instead of {}", block, stored, size));
  if (converted_) {
    if (zlib_) zlib_->expect_end(block);
    return;
  }
  std::uint8_t* bytes = is_tiled_ ? tile_.data() : row(plane, 0);
  file_.check((is_tiled_ ? libtiff().TIFFReadEncodedTile(tiff_, block, bytes, size)
                         : libtiff().TIFFReadEncodedStrip(tiff_, block, bytes, size)) == size);
  if (zlib_)
    zlib_->expect_end(block, {bytes, static_cast<std::size_t>(size)},
                      (block_width_ * pixel_bits_ + 7) / 8);
  if (is_tiled_) copy_tile(place);
}

void TiffRows::copy_tile(const Place& place) {
  const std::size_t pixels = std::min(block_width_, width_ - place.x);
  const std::size_t tile_row_bytes = block_width_ * pixel_bits_ / 8;
  for (std::size_t y = 0; y < place.rows; ++y) {
    std::memcpy(row(place.plane, y) + place.x * pixel_bits_ / 8, tile_.data() + y * tile_row_bytes,
                (pixels * pixel_bits_ + 7) / 8);
  }
}

}  // namespace gpufilter

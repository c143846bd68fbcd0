#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/words.hpp"
#include "codec/read_limits.hpp"
#include "codec/repeatable_source.hpp"
#include "codec/tiff/codec.hpp"
#include "codec/tiff/layout.hpp"
#include "codec/tiff/library.hpp"
#include "codec/tiff/metadata.hpp"
#include "codec/tiff/settings.hpp"

namespace gpufilter {
namespace {

// The stored rows of a file, whatever blocks they are in.
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

TiffRows::TiffRows(TiffFile& file, const TiffLayout& layout, const ReadLimits& limits)
    : file_(file),
      tiff_(file.get()),
      is_tiled_(libtiff().TIFFIsTiled(tiff_) != 0),
      width_(layout.width),
      height_(layout.height),
      block_width_(is_tiled_ ? file.field<std::uint32_t>(TIFFTAG_TILEWIDTH) : width_),
      block_height_(std::min(height_, file.field<std::uint32_t>(TIFFTAG_ROWSPERSTRIP))) {
  const auto bits = static_cast<std::size_t>(layout.bits);
  const auto samples = static_cast<std::size_t>(layout.samples);
  if (samples > 1 && file.field<std::uint16_t>(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE)
    planes_ = static_cast<std::uint16_t>(samples);
  holds_blocks_ = is_tiled_ || planes_ > 1;
  if (is_tiled_) block_height_ = file.field<std::uint32_t>(TIFFTAG_TILELENGTH);
  if (block_width_ == 0 || block_height_ == 0) file.refuse("its tiles or strips are empty");
  pixel_bits_ = bits * (planes_ > 1 ? 1 : samples);
  row_bytes_ = (width_ * bits * samples + 7) / 8;
  const auto block_bytes = static_cast<std::uint64_t>(is_tiled_ ? libtiff().TIFFTileSize64(tiff_)
                                                                : libtiff().TIFFStripSize64(tiff_));
  const std::uint64_t held =
      holds_blocks_ ? block_bytes + row_bytes_ * std::uint64_t{block_height_} : row_bytes_;
  if (held > limits.max_memory || block_bytes == 0) {
    check_memory(file.name(), std::max(held, block_bytes), limits,
                 "a row of tiles or planes of this TIFF", "save it in strips");
    file.refuse("its tiles or strips are empty");
  }
  // libtiff has to agree about the bytes, whatever the tags say.
  block_row_bytes_ = static_cast<std::size_t>(is_tiled_ ? libtiff().TIFFTileRowSize64(tiff_)
                                                        : libtiff().TIFFScanlineSize64(tiff_));
  const std::uint64_t expected = (std::uint64_t{block_width_} * pixel_bits_ + 7) / 8;
  const bool is_aligned = !is_tiled_ || block_width_ * pixel_bits_ % 8 == 0;
  if (block_row_bytes_ != expected || !is_aligned) file.refuse("its tags contradict each other");
  if (holds_blocks_) block_.resize(block_bytes);
  rows_.resize(held - (holds_blocks_ ? block_bytes : 0));
}

const std::uint8_t* TiffRows::next() {
  if (!holds_blocks_) {
    file_.check(libtiff().TIFFReadScanline(tiff_, rows_.data(), y_++, 0) == 1);
    return rows_.data();
  }
  if (y_ % block_height_ == 0) read_blocks();
  return rows_.data() + std::size_t{y_++ % block_height_} * row_bytes_;
}

void TiffRows::read_blocks() {
  for (std::uint16_t plane = 0; plane < planes_; ++plane) {
    for (std::uint64_t x = 0; x < width_; x += block_width_) {
      read_block(static_cast<std::uint32_t>(x), plane);
      copy_block(static_cast<std::uint32_t>(x), plane);
    }
  }
}

// The last strip has fewer rows than the others.
void TiffRows::read_block(std::uint32_t x, std::uint16_t plane) {
  const std::size_t rows = is_tiled_ ? block_height_ : std::min(block_height_, height_ - y_);
  const auto size = static_cast<tmsize_t>(rows * block_row_bytes_);
  const tmsize_t got =
      is_tiled_ ? libtiff().TIFFReadEncodedTile(
                      tiff_, libtiff().TIFFComputeTile(tiff_, x, y_, 0, plane), block_.data(), size)
                : libtiff().TIFFReadEncodedStrip(
                      tiff_, libtiff().TIFFComputeStrip(tiff_, y_, plane), block_.data(), size);
  file_.check(got == size);
}

void TiffRows::copy_block(std::uint32_t x, std::uint16_t plane) {
  const std::uint32_t rows = std::min(block_height_, height_ - y_);
  const std::size_t pixels = std::min(block_width_, width_ - x);
  for (std::size_t y = 0; y < rows; ++y) {
    const std::uint8_t* from = block_.data() + y * block_row_bytes_;
    std::uint8_t* to = rows_.data() + y * row_bytes_;
    if (planes_ == 1) {
      std::memcpy(to + x * pixel_bits_ / 8, from, (pixels * pixel_bits_ + 7) / 8);
      continue;
    }
    const std::size_t bytes = pixel_bits_ / 8;
    for (std::size_t i = 0; i < pixels; ++i)
      std::memcpy(to + ((x + i) * planes_ + plane) * bytes, from + i * bytes, bytes);
  }
}

class TiffReader final : public RowReader {
 public:
  TiffReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : source_(random_access(std::move(source))),
        file_(source_->name(), "rm", bytes_of(*source_), "damaged TIFF", limits.max_memory),
        layout_(tiff_layout(file_)),
        warns_(limits.warn) {
    check_size(file_.name(), layout_.width, layout_.height, layout_.format, limits);
    rows_.emplace(file_, layout_, limits);
    header_.file_format = &tiff_codec();
    header_.size = {static_cast<int>(layout_.width), static_cast<int>(layout_.height)};
    header_.format = layout_.format;
    header_.file_pixels = layout_.file_pixels;
    header_.metadata =
        read_tiff_metadata(file_, [this](std::uint64_t offset, std::span<std::uint8_t> bytes) {
          return source_->read_at(offset, bytes);
        });
    if (layout_.colors == TiffLayout::Colors::cmyk)
      layout_.ink = chosen_ink(limits.choose_ink, CmykPolarity::ink, header_.metadata, ink_doubt_);
    if (const auto pages = libtiff().TIFFNumberOfDirectories(file_.get()); pages > 1)
      header_.unread.push_back(counted(static_cast<std::size_t>(pages - 1), "more page"));
    header_.stored =
        std::make_shared<TiffSettings>(file_.field<std::uint16_t>(TIFFTAG_COMPRESSION));
  }

  void read(const MutableRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      convert_tiff_row(layout_, rows_->next(), rows.row(y));
  }

  Metadata finish() override {
    if (!warns_) return {};
    if (!ink_doubt_.empty()) log::warn(formatted("{}: {}", file_.name(), ink_doubt_));
    if (layout_.left_out_channels > 0) {
      log::warn(formatted("{}: {} of its channels are neither colours nor alpha, and are left out",
                          file_.name(), layout_.left_out_channels));
    }
    return {};
  }

 private:
  static TiffBytes bytes_of(ByteSource& source) {
    return {[&source](std::uint64_t offset, std::span<std::uint8_t> bytes) {
              return source.read_at(offset, bytes);
            },
            nullptr, [&source] { return *source.size(); }};
  }

  std::unique_ptr<ByteSource> source_;
  TiffFile file_;
  TiffLayout layout_;
  std::optional<TiffRows> rows_;
  bool warns_;
  std::string ink_doubt_;
};

}  // namespace

std::unique_ptr<RowReader> open_tiff(std::unique_ptr<ByteSource> source, const ReadLimits& limits) {
  return std::make_unique<TiffReader>(std::move(source), limits);
}

}  // namespace gpufilter

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <isa-l/igzip_lib.h>
#include <libdeflate.h>

#include "base/byte_cursor.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/words.hpp"
#include "codec/byte_source.hpp"
#include "codec/deflate/isal_state.hpp"
#include "codec/formats.hpp"
#include "codec/read_limits.hpp"
#include "codec/sample_conversion.hpp"
#include "codec/tiff/layout.hpp"
#include "codec/tiff/library.hpp"
#include "codec/tiff/metadata.hpp"

namespace gpufilter {
namespace {

template <typename Sample>
void take_differences(const std::uint8_t* row, std::size_t samples, std::size_t stride,
                      std::uint8_t* differences) {
  std::memcpy(differences, row, std::min(samples, stride) * sizeof(Sample));
  for (std::size_t i = stride; i < samples; ++i) {
    store_sample(
        differences, i,
        static_cast<Sample>(load_sample<Sample>(row, i) - load_sample<Sample>(row, i - stride)));
  }
}

// libtiff stops at the last pixel, before the checksum.
class ZlibCheck {
 public:
  // Both have to outlive this object. `stride`: samples from one to the next of the same channel.
  ZlibCheck(const TiffFile& file, const TiffReadAt& read, std::size_t stride)
      : file_(file),
        read_(read),
        stride_(stride),
        is_reversed_(file.field<std::uint16_t>(TIFFTAG_FILLORDER) == FILLORDER_LSB2MSB),
        bits_(file.field<std::uint16_t>(TIFFTAG_BITSPERSAMPLE)),
        state_(std::make_unique<State>()) {
    const auto predictor = file.field<std::uint16_t>(TIFFTAG_PREDICTOR);
    has_differences_ = predictor == PREDICTOR_HORIZONTAL;
    const bool is_swapped = libtiff().TIFFIsByteSwapped(file.get()) != 0 && bits_ > 8;
    const bool is_known = predictor == PREDICTOR_NONE || (has_differences_ && bits_ % 8 == 0);
    has_own_bytes_ = is_known && bits_ <= 16 && !is_swapped && !is_reversed_;
  }

  // Throws PictureError unless that strip or tile is a whole zlib stream: inflates it again,
  // without keeping anything.
  void expect_end(std::uint32_t block) {
    std::uint64_t at = libtiff().TIFFGetStrileOffset(file_.get(), block);
    std::uint64_t left = libtiff().TIFFGetStrileByteCount(file_.get(), block);
    inflate_state& inflater = state_->inflater;
    isal_inflate_init(&inflater);
    inflater.crc_flag = ISAL_ZLIB;
    while (!isal_has_ended(inflater)) {
      if (inflater.avail_in == 0 && left > 0) {
        const auto wanted = std::min<std::uint64_t>(left, state_->input.size());
        const std::size_t count = read_(at, std::span(state_->input).first(wanted));
        if (is_reversed_)
          libtiff().TIFFReverseBits(state_->input.data(), static_cast<tmsize_t>(count));
        at += count;
        left = count < wanted ? 0 : left - count;
        inflater.next_in = state_->input.data();
        inflater.avail_in = static_cast<std::uint32_t>(count);
      }
      inflater.next_out = state_->output.data();
      inflater.avail_out = static_cast<std::uint32_t>(state_->output.size());
      const int result = isal_inflate(&inflater);
      const bool has_stopped =
          inflater.avail_in == 0 && left == 0 && inflater.avail_out == state_->output.size();
      if (result == ISAL_INCORRECT_CHECKSUM)
        file_.refuse(formatted("the checksum of block {} is wrong", block));
      if (result != ISAL_DECOMP_OK || (has_stopped && !isal_has_ended(inflater)))
        file_.refuse(formatted("the data of block {} are damaged", block));
    }
  }

  // Checks a block of which libtiff made these bytes in rows of `row_bytes`, faster if they have
  // the checksum in the last bytes of the block.
  void expect_end(std::uint32_t block, std::span<const std::uint8_t> bytes, std::size_t row_bytes) {
    constexpr std::size_t checksum_size = 4;
    const std::uint64_t size = libtiff().TIFFGetStrileByteCount(file_.get(), block);
    std::array<std::uint8_t, checksum_size> end{};
    if (has_own_bytes_ && size > checksum_size) {
      static_cast<void>(
          read_(libtiff().TIFFGetStrileOffset(file_.get(), block) + size - checksum_size, end));
      if (number_of(end) == checksum_of(bytes, row_bytes)) return;
    }
    expect_end(block);
  }

 private:
  struct State {
    inflate_state inflater;
    std::array<std::uint8_t, std::size_t{64} << 10U> input;
    std::array<std::uint8_t, std::size_t{64} << 10U> output;
  };
  [[nodiscard]] std::uint32_t checksum_of(std::span<const std::uint8_t> bytes,
                                          std::size_t row_bytes) {
    if (!has_differences_) return libdeflate_adler32(1, bytes.data(), bytes.size());
    differences_.resize(row_bytes);
    const std::size_t samples = row_bytes * 8 / bits_;
    std::uint32_t checksum = 1;
    for (std::size_t at = 0; at + row_bytes <= bytes.size(); at += row_bytes) {
      const auto take =
          bits_ == 8 ? take_differences<std::uint8_t> : take_differences<std::uint16_t>;
      take(bytes.data() + at, samples, stride_, differences_.data());
      checksum = libdeflate_adler32(checksum, differences_.data(), row_bytes);
    }
    return checksum;
  }

  const TiffFile& file_;
  const TiffReadAt& read_;
  std::size_t stride_;
  bool is_reversed_;      // the bits of a byte
  std::uint16_t bits_;    // of a sample
  bool has_differences_;  // the stream has those between samples
  bool has_own_bytes_;    // what libtiff makes is what the stream has, but for differences
  std::vector<std::uint8_t> differences_;
  std::unique_ptr<State> state_;
};

// A strip of this many bytes is decoded as a whole if its stream has a checksum: libtiff is then
// twice as fast.
constexpr std::uint64_t largest_whole_strip = std::uint64_t{128} << 20U;
constexpr std::size_t converted_bytes = 4;  // of a pixel

// The stored rows of a TIFF file, whatever blocks they are in.
class TiffRows {
 public:
  // `read` reads the file's bytes. Throws PictureError if the rows that have to be in memory
  // together are more than `limits` allow: a row of tiles, of strips of separate planes, or of
  // pixels that libtiff converts. `input` has to outlive this object.
  TiffRows(TiffFile& file, const TiffLayout& layout, const ReadLimits& limits,
           const TiffBytes& input)
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
    fit_into(input.size());
    reserve(limits);
  }

  // The next row; valid until the next call. Throws PictureError, and again until the end of the
  // strip or the row of tiles; later rows may then follow.
  [[nodiscard]] TiffRow next() {
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

 private:
  struct ImageEnd {
    void operator()(TIFFRGBAImage* image) const {
      libtiff().TIFFRGBAImageEnd(image);
      delete image;
    }
  };

  // The place of a block.
  struct Place {
    std::uint32_t x;
    std::uint32_t y;
    std::uint32_t rows;
    std::uint16_t plane;
  };

  // libtiff would also turn the picture, unless it has the requested orientation.
  void begin_conversion() {
    std::array<char, 1024> why{};
    auto image = std::make_unique<TIFFRGBAImage>();
    if (libtiff().TIFFRGBAImageBegin(image.get(), tiff_, 1, why.data()) != 1)
      file_.refuse(formatted("libtiff cannot convert its colours: {}", why.data()));
    converted_.reset(image.release());
    converted_->req_orientation = converted_->orientation;
    row_bytes_ = std::size_t{width_} * converted_bytes;
  }

  // libtiff has to agree about the bytes, whatever the tags say.
  void check_bytes() const {
    const auto row_bytes = static_cast<std::uint64_t>(
        is_tiled_ ? libtiff().TIFFTileRowSize64(tiff_) : libtiff().TIFFScanlineSize64(tiff_));
    const std::uint64_t expected = (std::uint64_t{block_width_} * pixel_bits_ + 7) / 8;
    const bool is_aligned = !is_tiled_ || block_width_ * pixel_bits_ % 8 == 0;
    if (row_bytes != expected || !is_aligned) file_.refuse("its tags contradict each other");
  }

  // libtiff reads blocks as a whole, and none of one that the file does not have to its end. It has
  // no function that changes the number of their bytes.
  void fit_into(std::uint64_t file_size) {
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

  void reserve(const ReadLimits& limits) {
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

  void read_scanline(std::uint32_t y) {
    file_.check(libtiff().TIFFReadScanline(tiff_, rows_.data(), y, 0) == 1);
    const bool ends_strip = (y + 1) % block_height_ == 0 || y + 1 == height_;
    if (zlib_ && ends_strip) zlib_->expect_end(libtiff().TIFFComputeStrip(tiff_, y, 0));
  }

  void read_blocks(std::uint32_t y) {
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
  void read_block(const Place& place) {
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

  void copy_tile(const Place& place) {
    const std::size_t pixels = std::min(block_width_, width_ - place.x);
    const std::size_t tile_row_bytes = block_width_ * pixel_bits_ / 8;
    for (std::size_t y = 0; y < place.rows; ++y) {
      std::memcpy(row(place.plane, y) + place.x * pixel_bits_ / 8,
                  tile_.data() + y * tile_row_bytes, (pixels * pixel_bits_ + 7) / 8);
    }
  }

  [[nodiscard]] std::uint8_t* row(std::size_t plane, std::size_t y) {
    return rows_.data() + (plane * (holds_blocks_ ? block_height_ : 1) + y) * row_bytes_;
  }

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

// ImageSourceData. The picture is what they show together.
constexpr std::uint16_t layers_tag = 37724;

// The account of samples that were scaled to another range.
std::string account_of(const TiffLayout& layout, const std::optional<SampleRange>& cut_off) {
  if (layout.kind == TiffLayout::Samples::floating)
    return float_account(layout.bits, layout.range, cut_off);
  const char* sign = layout.kind == TiffLayout::Samples::with_sign ? " with a sign" : "";
  return range_account(formatted("{}-bit samples{}", layout.bits, sign), layout.range, cut_off);
}

class TiffReader final : public RowReader {
 public:
  TiffReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : source_(random_access(std::move(source))),
        file_(source_->name(), "rm", input_, "damaged TIFF", limits.max_memory),
        warns_(limits.warn) {
    const TiffContent content = read_tiff_content(Tiff(input_.read));
    layout_ = tiff_layout(file_, content, limits);
    check_size(file_.name(), layout_.width, layout_.height, layout_.format, limits);
    rows_.emplace(file_, layout_, limits, input_);
    header_.file_format = &tiff_codec();
    header_.size = {static_cast<int>(layout_.width), static_cast<int>(layout_.height)};
    header_.format = layout_.format;
    header_.file_pixels = layout_.file_pixels;
    header_.metadata = read_tiff_metadata(file_, content);
    if (layout_.colors == TiffLayout::Colors::cmyk) {
      layout_.ink = chosen_ink(limits.choose_ink, {CmykPolarity::ink, layout_.format.depth},
                               header_.metadata, ink_warning_);
    }
    conversion_.emplace(layout_);
    if (const std::size_t pages = file_.pages(); pages > 1)
      header_.unread.push_back(counted(pages - 1, "more page"));
    if (content.find(layers_tag) != nullptr) header_.unread.emplace_back("layers of Photoshop");
    header_.stored = std::make_shared<TiffSettings>(file_.field<std::uint16_t>(TIFFTAG_COMPRESSION),
                                                    foreign_tags(content));
  }

  void read(const MutableRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      conversion_->convert(rows_->next(), rows.row(y));
  }

  // With the next strip or row of tiles.
  [[nodiscard]] bool can_go_on() const override { return true; }

  Metadata finish() override {
    if (!warns_) return {};
    const auto warn = [&](const std::string& what) {
      log::warn(formatted("{}: {}", file_.name(), what));
    };
    if (!file_.ignored().empty()) warn(formatted("{} (it is ignored)", file_.ignored()));
    if (!layout_.guess.empty()) warn(layout_.guess);
    if (!ink_warning_.empty()) warn(ink_warning_);
    if (layout_.left_out_channels > 0) {
      warn(formatted("{} left out, neither colour nor alpha",
                     counted(layout_.left_out_channels, "channel")));
    }
    if (layout_.has_range()) warn(account_of(layout_, conversion_->cut_off()));
    return {};
  }

 private:
  std::unique_ptr<ByteSource> source_;
  TiffBytes input_{[this](std::uint64_t offset, std::span<std::uint8_t> bytes) {
                     return source_->read_at(offset, bytes);
                   },
                   nullptr, [this] { return *source_->size(); }};
  TiffFile file_;
  TiffLayout layout_;
  std::optional<TiffRows> rows_;
  std::optional<TiffConversion> conversion_;
  bool warns_;
  std::string ink_warning_;
};

}  // namespace

std::unique_ptr<RowReader> open_tiff(std::unique_ptr<ByteSource> source, const ReadLimits& limits) {
  return std::make_unique<TiffReader>(std::move(source), limits);
}

}  // namespace gpufilter

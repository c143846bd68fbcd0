#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/division.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/thread_limit.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/jpeg/metadata/metadata.hpp"
#include "codec/jpeg/metadata/parts_behind.hpp"
#include "codec/jpeg/read/device_scan.hpp"
#include "codec/jpeg/read/fair_share.hpp"
#include "codec/jpeg/read/group_reader.hpp"
#include "codec/jpeg/read/read_ahead.hpp"
#include "codec/jpeg/read/restart_layout.hpp"
#include "codec/jpeg/read/row_decoder.hpp"
#include "codec/jpeg/read/scan_limits.hpp"
#include "codec/jpeg/read/scan_reader.hpp"
#include "codec/jpeg/read/stored_picture.hpp"
#include "codec/jpeg/write/encoding.hpp"
#include "codec/jpeg/write/scan_script.hpp"

namespace gpufilter {
namespace {

// Readers that are decoding.
std::atomic<std::size_t> readers{0};

class JpegReader final : public RowReader {
 public:
  JpegReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : source_(std::move(source)), decoder_(source_->name()), warns_(limits.warn) {
    decoder_.open([this](std::span<JOCTET> buffer) { return read_bytes(buffer); }, scan_limits_);
    check(limits);
    decoder_.choose_colors();
    Decompressor& jpeg = decoder_.jpeg();
    header_.file_format = &jpeg_codec();
    header_.size = {static_cast<int>(jpeg.image_width), static_cast<int>(jpeg.image_height)};
    rows_left_ = header_.size.height;
    header_.format = {jpeg.out_color_space == JCS_GRAYSCALE ? 1 : 3, 8};
    header_.file_pixels =
        jpeg.out_color_space == JCS_CMYK ? FilePixels{"CMYK", 4, 8} : file_pixels(header_.format);
    header_.metadata = read_jpeg_metadata(jpeg, decoder_.errors(), warnings_);
    if (jpeg.out_color_space == JCS_CMYK) {
      std::string doubt;
      decoder_.convert_by(chosen_ink(limits.choose_ink, {jpeg_polarity}, header_.metadata, doubt));
      if (!doubt.empty()) warnings_.push_back(formatted("{}: {}", source_->name(), doubt));
    }
    if (limits.damaged == Damaged::keep) decoder_.keep_damaged();
    header_.stored = read_jpeg_encoding(jpeg, decoder_.errors());
    scan_begin_ = bytes_read_ - decoder_.input().unread().size();
    announced_ = announced_parts(jpeg, header_.metadata.xmp);
    if (source_->size() && (announced_.any || may_hold_more(*source_))) look_behind();
  }

  [[nodiscard]] std::optional<JpegScan> jpeg_scan() override {
    const auto file_bytes = source_->size();
    if (decoder_.jpeg().scale_denom > 1) return std::nullopt;
    if (!file_bytes || *file_bytes <= scan_begin_) return std::nullopt;
    auto scan = device_scan(decoder_.jpeg());
    if (!scan) return std::nullopt;
    scan->max_bytes = static_cast<std::size_t>(*file_bytes - scan_begin_);
    scan->read = [this](std::span<std::uint8_t> bytes) {
      return plain_scan_bytes(bytes.first(source_->read_at(scan_begin_, bytes)));
    };
    return scan;
  }

  void read(const MutableRows& rows) override {
    if (!std::exchange(started_, true)) choose_way();
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      read_row(rows.row(y));
    rows_left_ -= rows.rows.count();
  }

  // libjpeg leaves out the high frequencies of each block.
  [[nodiscard]] int decode_smaller(int largest) override {
    decoder_.jpeg().scale_denom = static_cast<unsigned>(largest);
    header_.size = {divided_up(header_.size.width, largest),
                    divided_up(header_.size.height, largest)};
    rows_left_ = header_.size.height;
    return largest;
  }

  [[nodiscard]] StoredPicture* stored_picture() override { return &stored_; }

  Metadata finish() override {
    if (rows_left_ > 0 && !stored_.is_loaded()) {
      // A device has decoded the picture.
    } else if (groups_) {
      groups_->finish();
    } else if (!scans_) {
      decoder_.finish();
      if (!looked_behind_ && !read_ahead_) read_rest();
    }
    if (lacks_end_marker()) {
      warnings_.push_back(
          formatted("{}: its end marker is missing; the picture is complete", source_->name()));
    }
    if (!warns_) return {};
    for (const std::string& warning : warnings_)
      log::warn(warning);
    return {};
  }

 private:
  void check(const ReadLimits& limits) {
    const Decompressor& jpeg = decoder_.jpeg();
    const std::string& name = source_->name();
    check_size(name, jpeg.image_width, jpeg.image_height, {3, 8}, limits);
    // Newer versions of libjpeg accept the header of such files.
    if (jpeg.data_precision != 8) {
      throw PictureError(name, unsupported_precision(jpeg.data_precision));
    }
    const std::uint64_t coefficients = coefficient_bytes(jpeg);
    stored_.limit(limits, source_->size().has_value());
    check_memory(name, coefficients, limits, "a JPEG of several scans",
                 "save it as a baseline JPEG");
    max_read_ahead_ = std::min(coefficients, limits.max_memory - coefficients);
  }

  [[nodiscard]] bool lacks_end_marker() const {
    return groups_ ? groups_->lacks_end_marker() : decoder_.lacks_end_marker();
  }

  // The header of a file is to say what it holds. Most files need not be searched for the end of
  // the picture: they end with it.
  void look_behind() {
    const auto end = end_of_jpeg(*source_, scan_begin_);
    if (!end) return;
    header_.unread = names_of_parts(announced_, bytes_from(*source_, *end));
    looked_behind_ = true;
  }

  // After the picture's end: what only now is found behind it.
  void read_rest() {
    BytesBehind behind;
    behind.add(decoder_.input().unread());
    behind.add_rest(*source_);
    header_.unread = names_of_parts(announced_, behind);
  }

  std::size_t read_bytes(std::span<JOCTET> buffer) {
    if (read_ahead_) return read_ahead_->read_on(buffer);
    const std::size_t count = source_->read(buffer);
    bytes_read_ += count;
    return count;
  }

  // Not in the constructor: a caller that wants only the header must not wait for more of the file.
  // If other pictures keep the threads busy, dividing this one would only add work.
  void choose_way() {
    if (decoder_.jpeg().scale_denom > 1) return;  // the ways below yield whole pictures
    const FairShare& share = share_.emplace(readers);
    const std::size_t threads = share.of_threads(allowed_threads());
    if (threads < 2) return;
    const auto layout =
        restart_layout(decoder_.jpeg(), threads, JpegGroupReader::group_memory(threads));
    if (layout) {
      groups_.emplace(*layout, decoder_, *source_, share);
    } else if (has_several_scans(decoder_.jpeg()) &&
               JpegScanReader::is_worthwhile(decoder_.jpeg())) {
      divide_into_scans(threads);
    }
  }

  void divide_into_scans(std::size_t threads) {
    read_ahead_.emplace(*source_, decoder_.input().unread());
    auto script = find_scans(decoder_.jpeg(), *read_ahead_, max_read_ahead_);
    try {
      if (script) scans_.emplace(decoder_, std::move(*script), read_ahead_->bytes(), threads);
    } catch (const PictureError&) {
    }
    if (!scans_) read_scan_by_scan();
  }

  void read_row(std::uint8_t* row) {
    if (groups_) return groups_->read_row(row);
    if (!scans_) return decoder_.read_row(row);
    try {
      scans_->read_row(row);
    } catch (const PictureError&) {
      const int yielded = scans_->rows_read();
      scans_.reset();
      read_scan_by_scan();
      for (int i = 0; i <= yielded; ++i)
        decoder_.read_row(row);
    }
  }

  // From the beginning, so that messages are those about the whole file. decoder_ has read only the
  // header, and some of the bytes after it are in its buffer.
  void read_scan_by_scan() { read_ahead_->drop(decoder_.input().unread().size()); }

  std::unique_ptr<ByteSource> source_;
  std::uint64_t bytes_read_ = 0;  // of the header, and of pictures that are not divided
  std::uint64_t scan_begin_ = 0;  // where the first scan's data begin
  AnnouncedParts announced_;
  bool looked_behind_ = false;
  ScanLimits scan_limits_;
  JpegRowDecoder decoder_;  // of the header, and of everything if the picture is not divided
  JpegStoredPicture stored_{decoder_, header_};
  std::optional<FairShare> share_;
  std::optional<JpegGroupReader> groups_;
  std::uint64_t max_read_ahead_ = 0;  // bytes
  std::optional<JpegReadAhead> read_ahead_;
  std::optional<JpegScanReader> scans_;
  bool warns_;
  bool started_ = false;
  int rows_left_ = 0;
  std::vector<std::string> warnings_;  // logged at the end: a refused picture has only one message
};

}  // namespace

std::unique_ptr<RowReader> open_jpeg(std::unique_ptr<ByteSource> source, const ReadLimits& limits) {
  return std::make_unique<JpegReader>(std::move(source), limits);
}

}  // namespace gpufilter

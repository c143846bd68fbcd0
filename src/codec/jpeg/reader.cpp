#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/jpeg/decompressor.hpp"
#include "codec/jpeg/encoding.hpp"
#include "codec/jpeg/library.hpp"
#include "codec/jpeg/metadata.hpp"
#include "codec/jpeg/scan_limits.hpp"
#include "codec/sample_conversion.hpp"

namespace gpufilter {
namespace {

// libjpeg's source manager over a ByteSource.
class JpegInput : public jpeg_source_mgr {
 public:
  JpegInput(ByteSource& source, JpegErrors& errors)
      : jpeg_source_mgr{}, source_(source), errors_(errors), buffer_(std::size_t{64} * 1024) {
    init_source = [](j_decompress_ptr) {};
    fill_input_buffer = [](j_decompress_ptr jpeg) -> boolean {
      of(jpeg).fill();
      return TRUE;
    };
    skip_input_data = [](j_decompress_ptr jpeg, long count) { of(jpeg).skip(count); };
    resync_to_restart = jpeg_resync_to_restart;
    term_source = [](j_decompress_ptr) {};
  }

 private:
  static JpegInput& of(j_decompress_ptr jpeg) { return *static_cast<JpegInput*>(jpeg->src); }

  // libjpeg asks only when it cannot go on without more bytes.
  void fill() {
    errors_.call_back([this] {
      const std::size_t count = source_.read(buffer_);
      if (count == 0) throw PictureError(errors_.name(), "the file ends too early");
      next_input_byte = buffer_.data();
      bytes_in_buffer = count;
    });
  }

  void skip(long count) {
    auto left = static_cast<std::size_t>(std::max(count, 0L));
    while (left > bytes_in_buffer) {
      left -= bytes_in_buffer;
      fill();
    }
    next_input_byte += left;
    bytes_in_buffer -= left;
  }

  ByteSource& source_;
  JpegErrors& errors_;
  std::vector<JOCTET> buffer_;
};

class JpegReader final : public RowReader {
 public:
  JpegReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : source_(std::move(source)),
        errors_(source_->name()),
        input_(*source_, errors_),
        jpeg_(errors_) {
    errors_.run([this] {
      jpeg_.create();
      jpeg_.src = &input_;
      jpeg_.progress = &scan_limits_;
      keep_jpeg_segments(jpeg_);
      jpeg_read_header(&jpeg_, TRUE);
    });
    jpeg_.segments.close();
    check(limits);
    choose_colors();
    header_.file_format = &jpeg_codec();
    header_.size = {static_cast<int>(jpeg_.image_width), static_cast<int>(jpeg_.image_height)};
    header_.format = {jpeg_.out_color_space == JCS_GRAYSCALE ? 1 : 3, 8};
    header_.metadata = read_jpeg_metadata(jpeg_, errors_, warnings_);
    if (!limits.warn) warnings_.clear();
    header_.stored = read_jpeg_encoding(jpeg_, errors_);
  }

  void read(const MutableRows& rows) override {
    // Not at construction: of a progressive picture this decodes everything.
    if (!started_) errors_.run([this] { jpeg_start_decompress(&jpeg_); });
    started_ = true;
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      read_row(rows.row(y));
  }

  Metadata finish() override {
    errors_.run([this] { jpeg_finish_decompress(&jpeg_); });
    for (const std::string& warning : warnings_)
      log::warn(warning);
    return {};
  }

 private:
  void check(const ReadLimits& limits) const {
    check_size(errors_.name(), jpeg_.image_width, jpeg_.image_height, {3, 8}, limits);
    // Newer libraries read the header of such files, but only rows of 8 bits.
    if (jpeg_.data_precision != 8) {
      throw PictureError(errors_.name(), unsupported_precision(jpeg_.data_precision));
    }
    check_memory(errors_.name(), coefficient_bytes(jpeg_), limits, "a JPEG of several scans",
                 "save it as a baseline JPEG");
  }

  void choose_colors() {
    switch (jpeg_.jpeg_color_space) {
      case JCS_GRAYSCALE:
        jpeg_.out_color_space = JCS_GRAYSCALE;
        return;
      case JCS_RGB:
      case JCS_YCbCr:
        jpeg_.out_color_space = JCS_RGB;
        return;
      case JCS_CMYK:
      case JCS_YCCK:
        jpeg_.out_color_space = JCS_CMYK;
        cmyk_row_.resize(std::size_t{4} * jpeg_.image_width);
        return;
      default:
        throw PictureError(errors_.name(),
                           formatted("unsupported JPEG: {} colour components of unknown meaning",
                                     jpeg_.num_components));
    }
  }

  void read_row(std::uint8_t* row) {
    const bool cmyk = jpeg_.out_color_space == JCS_CMYK;
    JSAMPROW destination = cmyk ? cmyk_row_.data() : row;
    errors_.run([&] { jpeg_read_scanlines(&jpeg_, &destination, 1); });
    if (!cmyk) return;
    // Adobe's programs store ink inverted, and theirs is the marker that says so.
    cmyk_to_rgb(cmyk_row_.data(), row, header_.size.width,
                jpeg_.saw_Adobe_marker ? CmykPolarity::inverted : CmykPolarity::ink);
  }

  std::unique_ptr<ByteSource> source_;
  JpegErrors errors_;
  JpegInput input_;
  ScanLimits scan_limits_;
  Decompressor jpeg_;
  bool started_ = false;
  std::vector<std::string>
      warnings_;  // logged at the end: a picture that is refused has one message
  std::vector<JSAMPLE> cmyk_row_;
};

}  // namespace

std::unique_ptr<RowReader> open_jpeg(std::unique_ptr<ByteSource> source, const ReadLimits& limits) {
  return std::make_unique<JpegReader>(std::move(source), limits);
}

}  // namespace gpufilter

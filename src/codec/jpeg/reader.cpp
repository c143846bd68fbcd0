#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/jpeg/decompressor.hpp"
#include "codec/jpeg/encoding.hpp"
#include "codec/jpeg/library.hpp"
#include "codec/jpeg/metadata.hpp"
#include "codec/sample_conversion.hpp"

namespace gpufilter {
namespace {

// Far more than encoders write (10 to 20), and few enough that a small file which repeats scans
// over a large picture cannot keep the program busy for hours.
constexpr int max_scans = 500;

// Metadata is kept in memory: no picture's own is larger.
constexpr std::size_t max_header_bytes = std::size_t{256} << 20U;

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

  void header_is_read() { in_header_ = false; }

 private:
  static JpegInput& of(j_decompress_ptr jpeg) { return *static_cast<JpegInput*>(jpeg->src); }

  // libjpeg asks only when it cannot go on without more bytes.
  void fill() {
    errors_.call_back([this] {
      const std::size_t count = source_.read(buffer_);
      if (count == 0) throw PictureError(errors_.name(), "the file ends too early");
      header_bytes_ += in_header_ ? count : 0;
      if (header_bytes_ > max_header_bytes) {
        throw PictureError(errors_.name(), "more than 256 MiB of metadata before the picture");
      }
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
  bool in_header_ = true;
  std::size_t header_bytes_ = 0;
};

class JpegReader final : public RowReader {
 public:
  JpegReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : source_(std::move(source)),
        errors_(source_->name()),
        input_(*source_, errors_),
        jpeg_(errors_) {
    progress_.progress_monitor = limit_scans;
    errors_.run([this] {
      jpeg_.create();
      jpeg_.src = &input_;
      jpeg_.progress = &progress_;
      keep_jpeg_metadata(jpeg_);
      jpeg_read_header(&jpeg_, TRUE);
    });
    input_.header_is_read();
    check_size(limits);
    choose_colors();
    header_.file_format = &jpeg_codec();
    header_.size = {static_cast<int>(jpeg_.image_width), static_cast<int>(jpeg_.image_height)};
    header_.format = {jpeg_.out_color_space == JCS_GRAYSCALE ? 1 : 3, 8};
    header_.metadata = read_jpeg_metadata(jpeg_, errors_);
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
    return {};
  }

 private:
  void check_size(const ReadLimits& limits) const {
    const std::uint64_t width = jpeg_.image_width;
    const std::uint64_t height = jpeg_.image_height;
    if (width * height > limits.max_pixels) {
      throw PictureError(errors_.name(), formatted("{} x {} pixels are more than the limit of {}: "
                                                   "raise it with --max-pixels",
                                                   width, height, limits.max_pixels));
    }
    // Newer libraries read the header of such files, but only rows of 8 bits.
    if (jpeg_.data_precision != 8) {
      throw PictureError(errors_.name(), unsupported_precision(jpeg_.data_precision));
    }
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

  static void limit_scans(j_common_ptr common) {
    auto& jpeg = *static_cast<Decompressor*>(reinterpret_cast<j_decompress_ptr>(common));
    if (jpeg.input_scan_number <= max_scans) return;
    auto& errors = *static_cast<JpegErrors*>(jpeg.client_data);
    errors.call_back([&errors] {
      throw PictureError(errors.name(), formatted("damaged JPEG: more than {} scans", max_scans));
    });
  }

  std::unique_ptr<ByteSource> source_;
  JpegErrors errors_;
  JpegInput input_;
  jpeg_progress_mgr progress_{};
  Decompressor jpeg_;
  bool started_ = false;
  std::vector<JSAMPLE> cmyk_row_;
};

}  // namespace

std::unique_ptr<RowReader> open_jpeg(std::unique_ptr<ByteSource> source, const ReadLimits& limits) {
  return std::make_unique<JpegReader>(std::move(source), limits);
}

}  // namespace gpufilter

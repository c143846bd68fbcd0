#include <cstddef>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/jpeg/encoding.hpp"
#include "codec/jpeg/library.hpp"
#include "codec/jpeg/metadata.hpp"
#include "codec/sample_conversion.hpp"

namespace gpufilter {
namespace {

// libjpeg's destination manager over a ByteSink.
class JpegOutput : public jpeg_destination_mgr {
 public:
  JpegOutput(ByteSink& sink, JpegErrors& errors)
      : jpeg_destination_mgr{}, sink_(sink), errors_(errors), buffer_(std::size_t{64} * 1024) {
    init_destination = [](j_compress_ptr jpeg) { of(jpeg).rewind(); };
    empty_output_buffer = [](j_compress_ptr jpeg) -> boolean {
      // libjpeg means all of it, whatever free_in_buffer says.
      of(jpeg).write(of(jpeg).buffer_.size());
      of(jpeg).rewind();
      return TRUE;
    };
    term_destination = [](j_compress_ptr jpeg) {
      of(jpeg).write(of(jpeg).buffer_.size() - of(jpeg).free_in_buffer);
    };
  }

 private:
  static JpegOutput& of(j_compress_ptr jpeg) { return *static_cast<JpegOutput*>(jpeg->dest); }

  void rewind() {
    next_output_byte = buffer_.data();
    free_in_buffer = buffer_.size();
  }

  void write(std::size_t count) {
    errors_.call_back([&] { sink_.write(std::span(buffer_).first(count)); });
  }

  ByteSink& sink_;
  JpegErrors& errors_;
  std::vector<JOCTET> buffer_;
};

class JpegWriter final : public RowWriter {
 public:
  JpegWriter(ByteSink& sink, const PictureHeader& header, const WriteOptions& options)
      : format_(header.format),
        width_(header.size.width),
        background_(*options.get<Color>(background_option())),
        errors_(sink.name()),
        output_(sink, errors_),
        jpeg_(errors_) {
    check_size(header.size);
    settings_ =
        choose_jpeg_settings(stored_jpeg_encoding(header), format_.color_channels() == 1,
                             options.get<int>(jpeg_quality_option()),
                             chroma_option(*options.get<std::string>(jpeg_subsampling_option())));
    notes_ = notes_on(settings_);
    log::info(formatted("{}: {}", errors_.name(), notes_->text));
    errors_.run([&] {
      jpeg_create_compress(&jpeg_);
      jpeg_.dest = &output_;
      set_parameters(header);
      jpeg_start_compress(&jpeg_, TRUE);
    });
    write_jpeg_metadata(jpeg_, errors_, header.metadata);
    const std::size_t samples = jpeg_samples();
    if (format_.has_alpha()) flat_.resize(samples * format_.bytes_per_sample());
    if (format_.depth == 16) narrow_.resize(samples);
  }

  void write(const ConstRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
      // libjpeg only reads it, but its types do not say so.
      auto* row = const_cast<JSAMPROW>(converted(rows.row(y)));
      errors_.run([&] { jpeg_write_scanlines(&jpeg_, &row, 1); });
    }
  }

  // Metadata stands before the pixels in a JPEG.
  void finish(const Metadata& trailing) override {
    if (!trailing.exif.empty() || !trailing.xmp.empty() || !trailing.text.empty()) {
      log::debug(errors_.name() + ": metadata found after the pixels comes too late: dropped");
    }
    errors_.run([this] { jpeg_finish_compress(&jpeg_); });
  }

 private:
  void check_size(const ImageSize& size) const {
    constexpr int most = JPEG_MAX_DIMENSION;
    if (size.width <= most && size.height <= most) return;
    throw PictureError(errors_.name(),
                       formatted("{} x {} pixels: JPEG holds at most {} a side: write PNG instead",
                                 size.width, size.height, most));
  }

  void set_parameters(const PictureHeader& header) {
    jpeg_.image_width = static_cast<JDIMENSION>(header.size.width);
    jpeg_.image_height = static_cast<JDIMENSION>(header.size.height);
    jpeg_.input_components = format_.color_channels();
    jpeg_.in_color_space = format_.color_channels() == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg_);
    apply_jpeg_settings(jpeg_, settings_);
    set_jpeg_density(jpeg_, header.metadata);
  }

  [[nodiscard]] std::size_t jpeg_samples() const {
    return static_cast<std::size_t>(width_) * static_cast<std::size_t>(format_.color_channels());
  }

  // The row as 8-bit samples without alpha. Alpha goes first, at the picture's own depth.
  const std::uint8_t* converted(const std::uint8_t* row) {
    if (format_.has_alpha()) {
      flatten_pixels(row, flat_.data(), width_, format_, background_);
      row = flat_.data();
    }
    if (format_.depth == 16) {
      narrow_samples(row, narrow_.data(), jpeg_samples());
      row = narrow_.data();
    }
    return row;
  }

  PixelFormat format_;
  int width_;
  Color background_;
  JpegErrors errors_;
  JpegOutput output_;
  Compressor jpeg_;
  JpegSettings settings_;
  std::vector<std::uint8_t> flat_;
  std::vector<std::uint8_t> narrow_;
};

}  // namespace

std::unique_ptr<RowWriter> create_jpeg(ByteSink& sink, const PictureHeader& header,
                                       const WriteOptions& options) {
  return std::make_unique<JpegWriter>(sink, header, options);
}

}  // namespace gpufilter

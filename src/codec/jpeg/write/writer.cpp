#include <optional>
#include <span>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/jpeg/library.hpp"
#include "codec/jpeg/metadata/metadata.hpp"
#include "codec/jpeg/write/coding.hpp"
#include "codec/jpeg/write/output.hpp"
#include "codec/jpeg/write/strip_writer.hpp"
#include "codec/read_limits.hpp"
#include "codec/row_conversion.hpp"

namespace gpufilter {
namespace {

class JpegWriter final : public RowWriter {
 public:
  JpegWriter(ByteSink& sink, const PictureHeader& header, const WriteOptions& options)
      : picture_(jpeg_picture(header, options)),
        sink_(sink),
        errors_(sink.name()),
        output_(sink, errors_),
        jpeg_(errors_),
        conversion_(header.format, format_in_file(jpeg_codec(), header.format), header.size.width,
                    picture_.background),
        kinds_(kept_metadata(options)) {
    check_size(header.size);
    notes_ = notes_on(picture_.settings);
    log::info(formatted("{}: {}", errors_.name(), notes_->text));
    const bool progressive = picture_.settings.progressive;
    if (progressive) {
      check_memory(errors_.name(), coefficient_bytes(picture_),
                   {.max_memory = options.max_memory()}, "a progressive JPEG",
                   "leave out --progressive");
    }
    const int mcu_rows = restart_rows(picture_, options);
    errors_.run([&] {
      create_compressor(jpeg_, picture_);
      jpeg_.dest = &output_;
    });
    const Metadata metadata = kept_part(header.metadata, kinds_);
    set_jpeg_density(jpeg_, metadata, left_out_);
    errors_.run([&] {
      jpeg_.restart_in_rows = mcu_rows;
      jpeg_start_compress(&jpeg_, TRUE);
    });
    write_metadata(header, metadata);
    if (mcu_rows > 0) start_strips(mcu_rows * mcu_grid(picture_).mcu.height);
  }

  void write(const ConstRows& rows) override {
    if (strips_) return strips_->write(rows);
    for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
      // libjpeg only reads it, although its parameter is not const.
      auto* row = const_cast<JSAMPROW>(conversion_.convert(rows.row(y)));
      errors_.run([&] { jpeg_write_scanlines(&jpeg_, &row, 1); });
    }
  }

  void write_coded(const CodedRows& rows) override {
    if (!strips_) start_strips(picture_.size.height);
    strips_->write_coded(rows);
  }

  // In a JPEG, metadata comes before the pixels.
  void finish(const Metadata& trailing) override {
    note_content(kept_part(trailing, kinds_), left_out_, " that follows the pixels in a stream");
    if (strips_ && strips_->rows_left() == 0) return strips_->finish();
    errors_.run([this] { jpeg_finish_compress(&jpeg_); });
  }

 private:
  void write_metadata(const PictureHeader& header, const Metadata& metadata) {
    const JpegEncoding* input = stored_jpeg_encoding(header);
    JpegMetadataLayout layout;
    if (input != nullptr) layout = kept_part(input->metadata_layout, kinds_);
    write_jpeg_metadata(jpeg_, errors_,
                        {metadata, header.format, input == nullptr ? nullptr : &layout}, left_out_);
  }

  void check_size(const ImageSize& size) const {
    constexpr int max_side = JPEG_MAX_DIMENSION;
    if (size.width <= max_side && size.height <= max_side) return;
    throw PictureError(errors_.name(),
                       formatted("{} x {} pixels: JPEG holds at most {} a side: write PNG instead",
                                 size.width, size.height, max_side));
  }

  // jpeg_ writes only the headers of the whole picture.
  void start_strips(int rows) {
    errors_.run([this] {
      jpeg_write_scanlines(&jpeg_, nullptr, 0);
      output_.flush();
    });
    strips_.emplace(errors_.name(), picture_, rows,
                    [this](std::span<const std::uint8_t> bytes) { sink_.write(bytes); });
  }

  JpegPicture picture_;
  ByteSink& sink_;
  JpegErrors errors_;
  JpegOutput output_;
  Compressor jpeg_;
  RowConversion conversion_;
  MetadataKinds kinds_;
  std::optional<JpegStripWriter> strips_;
};

}  // namespace

std::unique_ptr<RowWriter> create_jpeg(ByteSink& sink, const PictureHeader& header,
                                       const WriteOptions& options) {
  return std::make_unique<JpegWriter>(sink, header, options);
}

}  // namespace gpufilter

#include "codec/integer_writer.hpp"

#include <utility>

#include "codec/codec_table.hpp"
#include "codec/sample_conversion.hpp"
#include "image/image.hpp"

namespace gpufilter {
namespace {

PictureHeader integer_header(const Codec& codec, PictureHeader header) {
  header.format.depth = codec.max_depth == 8 ? 8 : 16;
  return header;
}

class IntegerWriter final : public RowWriter {
 public:
  IntegerWriter(std::unique_ptr<RowWriter> writer, const PixelFormat& format)
      : writer_(std::move(writer)), format_(format) {
    notes_ = writer_->notes();
  }

  void write(const ConstRows& rows) override {
    Image integers(rows.width, rows.rows, format_);
    const std::size_t samples = rows.row_bytes() / sizeof(float);
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      floats_to_samples(rows.row(y), integers.rows().row(y), samples, format_.depth);
    writer_->write(std::as_const(integers).rows());
  }

  void finish(const Metadata& trailing) override {
    writer_->finish(trailing);
    notes_ = writer_->notes();
    file_pixels_ = writer_->file_pixels();
    for (std::string name : writer_->left_out())
      left_out_.add(std::move(name));
  }

 private:
  std::unique_ptr<RowWriter> writer_;
  PixelFormat format_;  // of the rows that it gets
};

}  // namespace

std::unique_ptr<RowWriter> integer_writer(const Codec& codec, ByteSink& sink,
                                          const PictureHeader& header,
                                          const WriteOptions& options) {
  const PictureHeader integers = integer_header(codec, header);
  return std::make_unique<IntegerWriter>(create_picture(codec, sink, integers, options),
                                         integers.format);
}

}  // namespace gpufilter

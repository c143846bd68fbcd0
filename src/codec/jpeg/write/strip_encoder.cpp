#include "codec/jpeg/write/strip_encoder.hpp"

#include "codec/jpeg/codec.hpp"

namespace gpufilter {

JpegOutput::JpegOutput(ByteSink& sink, JpegErrors& errors)
    : jpeg_destination_mgr{}, sink_(sink), errors_(errors), buffer_(std::size_t{64} * 1024) {
  init_destination = [](j_compress_ptr jpeg) { of(jpeg).rewind(); };
  empty_output_buffer = [](j_compress_ptr jpeg) -> boolean {
    // libjpeg means the whole buffer, whatever free_in_buffer says.
    of(jpeg).write(of(jpeg).buffer_.size());
    of(jpeg).rewind();
    return TRUE;
  };
  term_destination = [](j_compress_ptr jpeg) { of(jpeg).flush(); };
}

void JpegOutput::flush() {
  write(buffer_.size() - free_in_buffer);
  rewind();
}

void JpegOutput::rewind() {
  next_output_byte = buffer_.data();
  free_in_buffer = buffer_.size();
}

void JpegOutput::write(std::size_t count) {
  errors_.call_back([&] { sink_.write(std::span(buffer_).first(count)); });
}

namespace {

constexpr std::int64_t pixels_a_strip = std::int64_t{256} << 10U;

}  // namespace

int mcu_rows_a_strip(const McuGrid& grid) {
  const std::int64_t row = grid.pixels_a_row();
  const std::int64_t rows = (pixels_a_strip + row - 1) / row;
  // A restart interval is a number of 16 bits. 4096 MCUs and one row are always fewer.
  return 2 * rows > grid.count.height ? 0 : static_cast<int>(rows);
}

JpegStripEncoder::JpegStripEncoder(const std::string& name, const JpegPicture& picture)
    : errors_(name),
      sink_(memory_sink(encoded_, name)),
      output_(*sink_, errors_),
      jpeg_(errors_),
      conversion_(picture.format, format_in_file(jpeg_codec(), picture.format), picture.size.width,
                  picture.background) {
  errors_.run([&] {
    create_compressor(jpeg_, picture);
    jpeg_.dest = &output_;
  });
}

void JpegStripEncoder::begin(int count) {
  errors_.run([&] {
    jpeg_.image_height = static_cast<JDIMENSION>(count);
    jpeg_start_compress(&jpeg_, TRUE);
    jpeg_write_scanlines(&jpeg_, nullptr, 0);  // writes the headers alone
    output_.flush();
  });
  encoded_.clear();
}

void JpegStripEncoder::write_row(const std::uint8_t* row) {
  // libjpeg only reads it, although its parameter is not const.
  auto* converted = const_cast<JSAMPROW>(conversion_.convert(row));
  errors_.run([&] { jpeg_write_scanlines(&jpeg_, &converted, 1); });
}

std::span<std::uint8_t> JpegStripEncoder::finish() {
  errors_.run([this] { jpeg_finish_compress(&jpeg_); });
  return encoded_;
}

}  // namespace gpufilter

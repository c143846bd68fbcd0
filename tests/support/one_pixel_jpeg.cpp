#include "support/one_pixel_jpeg.hpp"

#include <array>
#include <cstdint>

#include "codec/jpeg/codec.hpp"
#include "support/bytes_of.hpp"

namespace gpufilter::test {

WrittenJpeg write_one_pixel(PictureHeader header, int channels, const WriteOptions& options) {
  WrittenJpeg written;
  const auto sink = memory_sink(written.jpeg, "out.jpg");
  header.size = {1, 1};
  header.format = {channels, 8};
  const auto writer = create_jpeg(*sink, header, options);
  const std::array<std::uint8_t, 4> pixel{1, 2, 3, 4};
  writer->write({pixel.data(), pixel.size(), {0, 1}, 1, header.format});
  writer->finish({});
  written.left_out = writer->left_out();
  return written;
}

void write_segment(jpeg_compress_struct& jpeg, int code, std::string_view content) {
  const Bytes bytes = bytes_of(content);
  jpeg_write_marker(&jpeg, code, bytes.data(), static_cast<unsigned>(bytes.size()));
}

}  // namespace gpufilter::test

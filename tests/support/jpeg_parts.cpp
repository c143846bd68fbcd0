#include "support/jpeg_parts.hpp"

#include "codec/formats.hpp"

namespace gpufilter::test {
namespace {

std::uint8_t high(std::size_t number) {
  return static_cast<std::uint8_t>(number >> 8U);
}

std::uint8_t low(std::size_t number) {
  return static_cast<std::uint8_t>(number & 0xFFU);
}

// Byte by byte: GCC 12 mistakes insert() after so few bytes for an overflow, and warns.
void append(Bytes& to, const Bytes& more) {
  for (const std::uint8_t byte : more)
    to.push_back(byte);
}

}  // namespace

Bytes jpeg_segment(std::uint8_t marker, const Bytes& data) {
  const std::size_t length = data.size() + 2;
  Bytes bytes{0xFF, marker, high(length), low(length)};
  append(bytes, data);
  return bytes;
}

Bytes jpeg_frame(const JpegFrame& frame) {
  Bytes divisors(65, 16);
  divisors[0] = 0;  // the table's number
  const auto width = static_cast<std::size_t>(frame.width);
  const auto height = static_cast<std::size_t>(frame.height);
  Bytes data{8, high(height), low(height), high(width), low(width), low(frame.sampling.size())};
  for (std::size_t i = 0; i < frame.sampling.size(); ++i)
    append(data, {low(i + 1), frame.sampling[i], 0});
  Bytes file{0xFF, 0xD8};
  append(file, jpeg_segment(0xDB, divisors));
  append(file, jpeg_segment(frame.marker, data));
  return file;
}

Bytes jpeg_scan(int count, std::uint8_t first, std::uint8_t last, std::uint8_t approximation) {
  Bytes data{static_cast<std::uint8_t>(count)};
  for (int i = 1; i <= count; ++i)
    append(data, {static_cast<std::uint8_t>(i), 0});
  append(data, {first, last, approximation});
  return jpeg_segment(0xDA, data);
}

Bytes tiny_jpeg(const JpegFrame& frame, int components) {
  Bytes file = jpeg_frame(frame);
  append(file, jpeg_scan(components, 0, frame.marker == sequential_arithmetic ? 63 : 0, 0));
  append(file, {0, 0, 0xFF, 0xD9});
  return file;
}

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

std::vector<StoredComponent> coefficients_of(const Bytes& data) {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, data.data(), data.size());
  jpeg_read_header(&jpeg, TRUE);
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&jpeg);
  std::vector<StoredComponent> components;
  for (int c = 0; c < jpeg.num_components; ++c) {
    const jpeg_component_info& info = jpeg.comp_info[c];
    StoredComponent& component = components.emplace_back();
    component.horizontal = jpeg.num_components == 1 ? 1 : info.h_samp_factor;
    component.vertical = jpeg.num_components == 1 ? 1 : info.v_samp_factor;
    component.width = static_cast<int>(info.width_in_blocks);
    component.height = static_cast<int>(info.height_in_blocks);
    std::copy(std::begin(info.quant_table->quantval), std::end(info.quant_table->quantval),
              component.divisors.begin());
    for (JDIMENSION y = 0; y < info.height_in_blocks; ++y) {
      const JBLOCKROW row = jpeg.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&jpeg),
                                                         arrays[c], y, 1, FALSE)[0];
      for (JDIMENSION x = 0; x < info.width_in_blocks; ++x)
        std::copy(std::begin(row[x]), std::end(row[x]), component.blocks.emplace_back().begin());
    }
  }
  jpeg_destroy_decompress(&jpeg);
  return components;
}

}  // namespace gpufilter::test

#include "codec/jpeg/scan_decoder.hpp"

#include <algorithm>
#include <utility>

namespace gpufilter {

JpegScanDecoder::JpegScanDecoder(const Decompressor& whole, const std::string& name,
                                 const JpegScanScript& script, std::size_t index,
                                 std::span<const JOCTET> data, JpegCoefficients& coefficients)
    : data_(data), errors_(name), input_(errors_), jpeg_(errors_) {
  errors_.expect_one_scan();
  const JpegScanScript::Scan& scan = script.scans.at(index);
  header_ = part_header(whole, static_cast<int>(whole.image_height),
                        std::span(script.tables).first(scan.tables), scan.header);
  input_.open([this](std::span<JOCTET> buffer) { return read(buffer); }, header_, {});
  errors_.run([&] {
    jpeg_.create();
    jpeg_.src = &input_;
    jpeg_.copy_tables(whole);
    jpeg_.use(coefficients);
    jpeg_read_header(&jpeg_, TRUE);
    jpeg_.buffered_image = TRUE;
    jpeg_.raw_data_out = TRUE;  // no buffers for output, which another decompressor makes
    jpeg_start_decompress(&jpeg_);
  });
}

void JpegScanDecoder::decode(int count) {
  errors_.run([&] {
    for (int i = 0; i < count; ++i)
      jpeg_consume_input(&jpeg_);
  });
}

void JpegScanDecoder::finish() {
  errors_.run([this] {
    while (jpeg_consume_input(&jpeg_) != JPEG_REACHED_EOI) {
    }
  });
}

// An end marker follows the data.
std::size_t JpegScanDecoder::read(std::span<JOCTET> buffer) {
  if (data_.empty() && !std::exchange(ended_, true)) {
    buffer[0] = 0xFF;
    buffer[1] = JPEG_EOI;
    return 2;
  }
  const std::size_t count = std::min(buffer.size(), data_.size());
  std::copy_n(data_.begin(), count, buffer.begin());
  data_ = data_.subspan(count);
  return count;
}

}  // namespace gpufilter

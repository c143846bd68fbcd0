#include "codec/jpeg/read/scan_decoder.hpp"

#include <algorithm>

namespace gpufilter {
namespace {

// How much of the file's rest from `at` on a decompressor of the whole file has in its buffer when
// it gets there, if `unread` bytes were in the buffer when it had read the header.
std::size_t buffered_at(std::size_t at, std::size_t unread) {
  if (at < unread) return unread - at;
  const std::size_t used = (at - unread) % JpegInput::buffer_size;
  return used == 0 ? 0 : JpegInput::buffer_size - used;
}

}  // namespace

JpegScanDecoder::JpegScanDecoder(const JpegRowDecoder& whole, const JpegScanScript& script,
                                 std::size_t index, std::span<const JOCTET> data,
                                 JpegCoefficients& coefficients)
    : data_(data.subspan(script.scans.at(index).begin)),
      end_(script.scans[index].end - script.scans[index].begin),
      errors_(whole.name()),
      input_(errors_),
      jpeg_(errors_) {
  errors_.expect_one_scan();
  const JpegScanScript::Scan& scan = script.scans[index];
  header_ = part_header(whole.jpeg(), static_cast<int>(whole.jpeg().image_height),
                        std::span(script.tables).first(scan.tables), scan.header);
  const std::size_t header_size = header_.size();
  header_.resize(header_size + buffered_at(scan.begin, whole.input().unread().size()));
  header_.resize(header_size + read(std::span(header_).subspan(header_size)));
  input_.open([this](std::span<JOCTET> buffer) { return read(buffer); }, header_, {});
  errors_.run([&] {
    jpeg_.create();
    jpeg_.src = &input_;
    jpeg_.copy_tables(whole.jpeg());
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

// The same buffers as for a decompressor of the whole file, except that an end marker replaces the
// marker that follows the scan. As long as the buffer holds much, libjpeg uses a fast Huffman
// decoder, which does not report bad codes. So where buffers end decides which damage is reported.
std::size_t JpegScanDecoder::read(std::span<JOCTET> buffer) {
  const auto bytes = data_.subspan(at_, std::min(buffer.size(), data_.size() - at_));
  std::copy(bytes.begin(), bytes.end(), buffer.begin());
  const std::size_t end_code = end_ + 1;
  if (end_code >= at_ && end_code - at_ < bytes.size()) buffer[end_code - at_] = JPEG_EOI;
  at_ += bytes.size();
  return bytes.size();
}

}  // namespace gpufilter

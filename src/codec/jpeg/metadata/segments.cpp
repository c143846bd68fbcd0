#include "codec/jpeg/metadata/segments.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/jpeg/metadata/metadata_layout.hpp"
#include "codec/jpeg/read/decompressor.hpp"

namespace gpufilter {
namespace {

constexpr int max_profile_parts = 255;  // they are numbered by a byte
constexpr int max_segments = 1000;

void require_input(jpeg_decompress_struct& jpeg) {
  if (jpeg.src->bytes_in_buffer == 0) jpeg.src->fill_input_buffer(&jpeg);
}

unsigned read_byte(jpeg_decompress_struct& jpeg) {
  require_input(jpeg);
  --jpeg.src->bytes_in_buffer;
  return *jpeg.src->next_input_byte++;
}

void read_bytes(jpeg_decompress_struct& jpeg, JOCTET* to, std::size_t count) {
  while (count > 0) {
    require_input(jpeg);
    const std::size_t part = std::min(count, jpeg.src->bytes_in_buffer);
    std::memcpy(to, jpeg.src->next_input_byte, part);
    jpeg.src->next_input_byte += part;
    jpeg.src->bytes_in_buffer -= part;
    to += part;
    count -= part;
  }
}

// A marker processor of libjpeg, which has just read the marker. The source never suspends.
boolean read_segment(j_decompress_ptr jpeg) {
  JpegSegments& segments = static_cast<Decompressor*>(jpeg)->segments;
  const int marker = jpeg->unread_marker;
  const unsigned high = read_byte(*jpeg);
  const unsigned length = high << 8U | read_byte(*jpeg);
  // libjpeg's own reader takes lengths that do not even count themselves for empty segments.
  const std::size_t size = std::max(length, 2U) - 2;
  if (segments.closed()) {
    jpeg->src->skip_input_data(jpeg, static_cast<long>(size));
    return TRUE;
  }
  JOCTET* const data = segments.buffer().data();
  read_bytes(*jpeg, data, size);
  const std::string_view segment(reinterpret_cast<const char*>(data), size);
  if (segments.wants(marker, segment)) segments.append(*jpeg, marker, segment);
  return TRUE;
}

}  // namespace

bool JpegSegments::Allowance::admits(std::size_t bytes) {
  ++count_;
  bytes_ += bytes;
  full_ = full_ || count_ > max_segments || bytes_ > max_bytes_;
  return !full_;
}

bool JpegSegments::wants(int marker, std::string_view segment) {
  if (segment.empty()) return false;
  switch (jpeg_segment_kind(marker, segment)) {
    case JpegSegmentKind::exif:
      if (!std::exchange(has_exif_, true)) return true;
      break;
    case JpegSegmentKind::xmp:
      if (!std::exchange(has_xmp_, true)) return true;
      break;
    case JpegSegmentKind::icc_profile:
      return ++profile_parts_ <= max_profile_parts;
    case JpegSegmentKind::image_resources:
    case JpegSegmentKind::other:
      break;
  }
  return (marker == JPEG_COM ? comments_ : others_).admits(segment.size());
}

void JpegSegments::append(jpeg_decompress_struct& jpeg, int marker, std::string_view segment) {
  void* const memory = jpeg.mem->alloc_large(reinterpret_cast<j_common_ptr>(&jpeg), JPOOL_IMAGE,
                                             sizeof(jpeg_marker_struct) + segment.size());
  auto* const saved = static_cast<jpeg_saved_marker_ptr>(memory);
  auto* const data = static_cast<JOCTET*>(memory) + sizeof(jpeg_marker_struct);
  std::memcpy(data, segment.data(), segment.size());
  saved->next = nullptr;
  saved->marker = static_cast<UINT8>(marker);
  saved->original_length = static_cast<unsigned>(segment.size());
  saved->data_length = saved->original_length;
  saved->data = data;
  (last_ == nullptr ? jpeg.marker_list : last_->next) = saved;
  last_ = saved;
}

void keep_jpeg_segments(jpeg_decompress_struct& jpeg) {
  jpeg_set_marker_processor(&jpeg, JPEG_COM, read_segment);
  for (int number = 1; number <= 15; ++number) {
    if (number != 14) jpeg_set_marker_processor(&jpeg, JPEG_APP0 + number, read_segment);
  }
}

}  // namespace gpufilter

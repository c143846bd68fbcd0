#include "codec/jpeg/segments.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <jerror.h>

#include "codec/jpeg/decompressor.hpp"

namespace gpufilter {
namespace {

constexpr int app1 = JPEG_APP0 + 1;
constexpr int app2 = JPEG_APP0 + 2;

constexpr int max_profile_parts = 255;  // they are numbered by a byte
constexpr int max_comments = 1000;
constexpr std::size_t max_comment_bytes = std::size_t{8} << 20U;

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
  if (length < 2) {
    jpeg->err->msg_code = JERR_BAD_LENGTH;
    jpeg->err->error_exit(reinterpret_cast<j_common_ptr>(jpeg));
  }
  const std::size_t size = length - 2;
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

bool JpegSegments::wants(int marker, std::string_view segment) {
  const auto first = [&segment](std::string_view prefix, bool& seen) {
    return segment.starts_with(prefix) && !std::exchange(seen, true);
  };
  if (marker == app1) return first(exif_prefix, has_exif_) || first(xmp_prefix, has_xmp_);
  if (marker == app2) {
    return segment.starts_with(icc_prefix) && ++profile_parts_ <= max_profile_parts;
  }
  if (segment.empty()) return false;
  ++comments_;
  comment_bytes_ += segment.size();
  const bool fits = comments_ <= max_comments && comment_bytes_ <= max_comment_bytes;
  left_out_comments_ = left_out_comments_ || !fits;
  return fits;
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
  for (const int marker : {app1, app2, JPEG_COM})
    jpeg_set_marker_processor(&jpeg, marker, read_segment);
}

}  // namespace gpufilter

// The segments of a JPEG's header that hold metadata, kept for read_jpeg_metadata().
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "codec/jpeg/library.hpp"

namespace gpufilter {

// What APP1 and APP2 segments begin with.
inline constexpr std::string_view exif_prefix("Exif\0\0", 6);
inline constexpr std::string_view xmp_prefix("http://ns.adobe.com/xap/1.0/\0", 29);
inline constexpr std::string_view icc_prefix("ICC_PROFILE\0", 12);

// Appends segments to the marker_list of a decompressor, as jpeg_save_markers() does, but in linear
// time (libjpeg walks through the list for each segment). It keeps only the first EXIF segment, the
// first XMP segment, one ICC profile, and 1000 comments of at most 8 MiB in total.
class JpegSegments {
 public:
  // Whether to keep `segment`, which does not include its length; if so, counts it.
  [[nodiscard]] bool wants(int marker, std::string_view segment);

  // Keeps no segments from now on.
  void close() { closed_ = true; }
  [[nodiscard]] bool closed() const { return closed_; }

  // Calls libjpeg, so only within JpegErrors::run().
  void append(jpeg_decompress_struct& jpeg, int marker, std::string_view segment);

  // Holds the segment that is being read.
  [[nodiscard]] std::array<JOCTET, 65533>& buffer() { return buffer_; }

  [[nodiscard]] bool left_out_comments() const { return left_out_comments_; }
  [[nodiscard]] bool has_profile() const { return profile_parts_ > 0; }

 private:
  std::array<JOCTET, 65533> buffer_{};
  jpeg_saved_marker_ptr last_ = nullptr;
  bool closed_ = false;
  bool has_exif_ = false;
  bool has_xmp_ = false;
  bool left_out_comments_ = false;
  int profile_parts_ = 0;
  int comments_ = 0;
  std::size_t comment_bytes_ = 0;
};

// Makes libjpeg pass APP1, APP2 and COM segments to Decompressor::segments. Call before the header
// is read, within JpegErrors::run().
void keep_jpeg_segments(jpeg_decompress_struct& jpeg);

}  // namespace gpufilter

// The segments of a JPEG's header that hold metadata, kept for read_jpeg_metadata().
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "codec/jpeg/library.hpp"

namespace gpufilter {

// Appends segments to the marker_list of a decompressor, as jpeg_save_markers() does, but in linear
// time (libjpeg walks through the list for each segment). It keeps the first EXIF segment, the
// first XMP segment, one ICC profile, and as many comments and other segments as
// docs/engineering/limits.md says.
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

  [[nodiscard]] bool left_out_comments() const { return comments_.full(); }
  [[nodiscard]] bool left_out_others() const { return others_.full(); }
  [[nodiscard]] bool has_profile() const { return profile_parts_ > 0; }

 private:
  // Counts segments up to a limit.
  class Allowance {
   public:
    explicit Allowance(std::size_t max_bytes) : max_bytes_(max_bytes) {}
    [[nodiscard]] bool admits(std::size_t bytes);
    [[nodiscard]] bool full() const { return full_; }

   private:
    std::size_t max_bytes_;
    std::size_t bytes_ = 0;
    int count_ = 0;
    bool full_ = false;
  };

  std::array<JOCTET, 65533> buffer_{};
  jpeg_saved_marker_ptr last_ = nullptr;
  bool closed_ = false;
  bool has_exif_ = false;
  bool has_xmp_ = false;
  int profile_parts_ = 0;
  Allowance comments_{std::size_t{8} << 20U};
  Allowance others_{std::size_t{16} << 20U};
};

// Makes libjpeg pass COM and all APP segments but its own, APP0 and APP14, to
// Decompressor::segments. Call before the header is read, within JpegErrors::run().
void keep_jpeg_segments(jpeg_decompress_struct& jpeg);

}  // namespace gpufilter

// Limits on the cost of a JPEG with several scans: libjpeg holds all its coefficients in memory,
// and every scan goes through them again.
#pragma once

#include <cstdint>

#include "codec/jpeg/library.hpp"

namespace gpufilter {

// Whether libjpeg has to hold all coefficients: the file is progressive, or its first scan lacks
// some components. Call after the header was read.
[[nodiscard]] bool has_several_scans(const jpeg_decompress_struct& jpeg);

// Once scans have been read: whether they hold every coefficient of every component, so that no
// scan can be missing.
[[nodiscard]] bool has_all_scans(const jpeg_decompress_struct& jpeg);

// Bytes of the coefficients that libjpeg will allocate; 0 if it decodes row by row. Call after the
// header was read.
[[nodiscard]] std::uint64_t coefficient_bytes(const jpeg_decompress_struct& jpeg);

// The bytes of all coefficients, whether or not libjpeg decodes row by row.
[[nodiscard]] std::uint64_t all_coefficient_bytes(const jpeg_decompress_struct& jpeg);

// Stops decoding if there are too many scans, or too many blocks of 8x8 samples in all scans
// together.
class ScanLimits : public jpeg_progress_mgr {
 public:
  ScanLimits();

  // Far more than encoders write (10 to 20).
  static constexpr int max_scans = 500;
  // The scans that libjpeg writes for 200 megapixels without chroma subsampling have a third of
  // these. A file of a few bytes that reaches it keeps a processor busy for about ten seconds.
  static constexpr std::uint64_t max_blocks = std::uint64_t{1} << 27U;

 private:
  static void check(j_common_ptr common);

  int scans_ = 0;
  std::uint64_t blocks_ = 0;
};

}  // namespace gpufilter

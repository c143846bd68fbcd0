// What a JPEG of several scans may cost: its coefficients are held as a whole, and every scan goes
// through them again.
#pragma once

#include <cstdint>

#include "codec/jpeg/library.hpp"

namespace gpufilter {

// Bytes of the coefficients that libjpeg will allocate; 0 where it decodes row by row. After the
// header was read.
[[nodiscard]] std::uint64_t coefficient_bytes(const jpeg_decompress_struct& jpeg);

// Ends decoding where scans, or the blocks of 8x8 samples that they go through, are too many.
class ScanLimits : public jpeg_progress_mgr {
 public:
  ScanLimits();

  // Far more than encoders write (10 to 20).
  static constexpr int max_scans = 500;
  // A picture of 200 megapixels without chroma subsampling takes a third in the scans that libjpeg
  // writes. One of a few bytes that reaches it keeps a processor busy for about ten seconds.
  static constexpr std::uint64_t max_blocks = std::uint64_t{1} << 27U;

 private:
  static void check(j_common_ptr common);

  int scans_ = 0;
  std::uint64_t blocks_ = 0;
};

}  // namespace gpufilter

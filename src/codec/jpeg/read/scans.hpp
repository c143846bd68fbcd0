// Scans of JPEG files: their headers, also for decoders of parts of a file whose header another
// decoder has read, and limits on their cost. Of a file of several scans libjpeg holds all
// coefficients in memory, and every scan goes through them again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

// The header of a scan.
struct JpegScanHeader {
  struct Component {
    int index = 0;  // in the order of the frame
    int dc_table = 0;
    int ac_table = 0;
  };
  std::vector<Component> components;
  int first_coefficient = 0;
  int last_coefficient = DCTSIZE2 - 1;
  int high_bit = 0;  // the lowest bit known before this scan; 0 if none is known
  int low_bit = 0;   // the lowest bit known after it
};

// As every scan of a sequential file does, and no scan of a progressive one.
[[nodiscard]] bool holds_all_coefficients(const JpegScanHeader& scan);

// The header of the scan that the decompressor is at.
[[nodiscard]] JpegScanHeader current_scan(const jpeg_decompress_struct& jpeg);

// A frame like that of `whole`, but `height` rows high and progressive if the scan is, the segments
// `tables`, and the scan's header. Components are numbered in order. The tables of `whole` are not
// included: see Decompressor::copy_tables().
[[nodiscard]] std::vector<JOCTET> part_header(const jpeg_decompress_struct& whole, int height,
                                              std::span<const JOCTET> tables,
                                              const JpegScanHeader& scan);

// A segment that sets the number of MCUs between two restart markers.
[[nodiscard]] std::vector<JOCTET> restart_segment(unsigned interval);

}  // namespace gpufilter

// Headers for decoders of parts of a file whose header another decoder has read.
#pragma once

#include <span>
#include <vector>

#include "codec/jpeg/library.hpp"

namespace gpufilter {

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

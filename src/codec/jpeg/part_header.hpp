// Headers for decoders of a part of a file whose own header another decoder has read.
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
  int high_bit = 0;  // the position down to which the scans before have gone; 0: none
  int low_bit = 0;   // the position down to which this one goes
};

// Of the scan that the decompressor has read the header of last.
[[nodiscard]] JpegScanHeader current_scan(const jpeg_decompress_struct& jpeg);

// The frame of `whole`, but `height` rows high, the segments `tables` and the scan's header.
// Components are numbered in their order. The tables that `whole` has are not repeated: see
// Decompressor::copy_tables().
[[nodiscard]] std::vector<JOCTET> part_header(const jpeg_decompress_struct& whole, int height,
                                              std::span<const JOCTET> tables,
                                              const JpegScanHeader& scan);

// The segment that says how many MCUs lie between two restart markers.
[[nodiscard]] std::vector<JOCTET> restart_segment(unsigned interval);

}  // namespace gpufilter

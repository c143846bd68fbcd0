// The scans of a file of several, located without decoding them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "codec/jpeg/read/input.hpp"
#include "codec/jpeg/read/part_header.hpp"

namespace gpufilter {

struct JpegScanScript {
  struct Scan {
    JpegScanHeader header;
    std::size_t tables = 0;  // bytes of `tables` that come before it
    std::size_t begin = 0;   // its data, in what was read
    std::size_t end = 0;
    // The scans before it that work on the same coefficients, or on the DC coefficients of its
    // component.
    std::vector<std::size_t> after;
  };
  std::vector<Scan> scans;
  // The segments between scans: Huffman tables and restart intervals.
  std::vector<JOCTET> tables;
};

// Each scan costs memory: a decompressor.
inline constexpr std::size_t max_parallel_scans = 64;

// Reads the rest of a file whose header `whole` has read; `input` begins with the data of the first
// scan. Returns nothing if all is in one scan, if the file is incomplete or so unusual that libjpeg
// might warn about it or decode it differently as a whole, and if more than `max_bytes` would be
// kept.
[[nodiscard]] std::optional<JpegScanScript> find_scans(const jpeg_decompress_struct& whole,
                                                       JpegReadAhead& input, std::size_t max_bytes);

}  // namespace gpufilter

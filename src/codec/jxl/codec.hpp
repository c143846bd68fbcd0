// JPEG XL by libjxl.
#pragma once

#include "codec/codec_table.hpp"

namespace gpufilter {

// The entry for JPEG XL in the table of codecs, and its option besides those of
// codec/whole_picture.hpp.
//
// Files yield grey or RGB, with or without alpha. Up to 8 bits become samples of 8 bits, more and
// floating point samples of 16: (v * 65535 + max / 2) / max for v in 0..max. The orientation
// becomes that of the EXIF. A file and its pixels are held in memory as a whole, and so are the
// pixels of a file that is written; of an animation the first frame is read.
[[nodiscard]] const Codec& jxl_codec();
[[nodiscard]] const WriteOption& jxl_effort_option();

}  // namespace gpufilter

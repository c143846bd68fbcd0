// JPEG XL by libjxl.
#pragma once

#include <memory>

#include "codec/codec_table.hpp"

namespace gpufilter {

// The entry for JPEG XL in the table of codecs, and its option besides those of
// codec/whole_picture.hpp.
[[nodiscard]] const Codec& jxl_codec();
[[nodiscard]] const WriteOption& jxl_effort_option();

// Grey or RGB, with or without alpha. Up to 8 bits become samples of 8 bits, more and floating
// point samples of 16: (v * 65535 + max / 2) / max for v in 0..max. The orientation becomes that of
// the EXIF. The file and its pixels are held in memory as a whole; of an animation the first frame
// is read.
[[nodiscard]] std::unique_ptr<RowReader> open_jxl(std::unique_ptr<ByteSource> source,
                                                  const ReadLimits& limits);

// As create_picture(). The pixels are held in memory as a whole.
[[nodiscard]] std::unique_ptr<RowWriter> create_jxl(ByteSink& sink, const PictureHeader& header,
                                                    const WriteOptions& options);

}  // namespace gpufilter

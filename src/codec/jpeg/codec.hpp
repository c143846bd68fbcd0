// JPEG through libjpeg-turbo.
#pragma once

#include <memory>

#include "codec/codec_table.hpp"

namespace gpufilter {

// The entry for JPEG in the table of codecs, and its options: see choose_jpeg_settings() in
// write/encoding.hpp.
[[nodiscard]] const Codec& jpeg_codec();
[[nodiscard]] const WriteOption& jpeg_subsampling_option();
[[nodiscard]] const WriteOption& jpeg_restart_option();
[[nodiscard]] const WriteOption& jpeg_progressive_option();

// Baseline and progressive JPEG of 8 bits: grey files yield grey, all others (YCbCr, RGB, CMYK,
// YCCK) RGB. A truncated or damaged file, for which libjpeg would make up pixels, is refused, at
// the latest by finish().
[[nodiscard]] std::unique_ptr<RowReader> open_jpeg(std::unique_ptr<ByteSource> source,
                                                   const ReadLimits& limits);

// Baseline or progressive JPEG, grey or YCbCr. create_picture() says what happens to depth and
// alpha. All threads encode a baseline file of several strips (write/writer.cpp), with restart
// markers between the strips, unless jpeg_restart_option() is off.
[[nodiscard]] std::unique_ptr<RowWriter> create_jpeg(ByteSink& sink, const PictureHeader& header,
                                                     const WriteOptions& options);

}  // namespace gpufilter

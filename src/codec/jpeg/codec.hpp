// JPEG through libjpeg-turbo. Programs use open_picture() and create_picture() of codec/codec.hpp.
#pragma once

#include <memory>

#include "codec/codec_table.hpp"

namespace gpufilter {

// The row of the table, and its options: see choose_jpeg_settings() in settings.hpp.
[[nodiscard]] const Codec& jpeg_codec();
[[nodiscard]] const WriteOption& jpeg_quality_option();
[[nodiscard]] const WriteOption& jpeg_subsampling_option();
[[nodiscard]] const WriteOption& jpeg_restart_option();
[[nodiscard]] const WriteOption& jpeg_progressive_option();

// Baseline and progressive JPEG of 8 bits: grey yields grey, everything else (YCbCr, RGB, CMYK,
// YCCK) RGB. A file that libjpeg can only guess at (cut off, damaged) is refused, at the latest by
// finish().
[[nodiscard]] std::unique_ptr<RowReader> open_jpeg(std::unique_ptr<ByteSource> source,
                                                   const ReadLimits& limits);

// Baseline or progressive JPEG, grey or YCbCr. What it does to depth and alpha is said at
// create_picture(). A baseline file of several strips (strips.hpp) is encoded by all threads and
// has a restart marker between two strips, unless jpeg_restart_option() is off.
[[nodiscard]] std::unique_ptr<RowWriter> create_jpeg(ByteSink& sink, const PictureHeader& header,
                                                     const WriteOptions& options);

}  // namespace gpufilter

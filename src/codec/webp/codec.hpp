// WebP by libwebp. Programs use open_picture() and create_picture() of codec/codec.hpp.
#pragma once

#include <memory>

#include "codec/codec_table.hpp"

namespace gpufilter {

// The entry for WebP in the table of codecs.
[[nodiscard]] const Codec& webp_codec();

// RGB or RGBA of 8 bits, of an animation the first frame. The file and its pixels are held in
// memory as a whole.
[[nodiscard]] std::unique_ptr<RowReader> open_webp(std::unique_ptr<ByteSource> source,
                                                   const ReadLimits& limits);

// As create_picture(). The pixels are held in memory as a whole.
[[nodiscard]] std::unique_ptr<RowWriter> create_webp(ByteSink& sink, const PictureHeader& header,
                                                     const WriteOptions& options);

}  // namespace gpufilter

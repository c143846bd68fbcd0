// PNG files. libpng reads all but the pixels, and the pixels of uncommon files.
#pragma once

#include <memory>

#include "codec/codec_table.hpp"
#include "codec/png/read/stream.hpp"

namespace gpufilter {

// PNG's row in the table of formats, and its option: 0 (fastest) to 9 (smallest).
[[nodiscard]] const Codec& png_codec();
[[nodiscard]] const WriteOption& png_level_option();

// As open_picture(). The signature is the next thing in `source`. A picture that is not interlaced
// is streamed; an interlaced one is decoded into memory at the first read(). Both decoders accept
// the same files and yield the same samples.
[[nodiscard]] std::unique_ptr<RowReader> open_png(std::unique_ptr<ByteSource> source,
                                                  const ReadLimits& limits,
                                                  PngDecoder decoder = PngDecoder::automatic);

// For Codec::read_late_metadata. The signature is the next thing in `source`.
[[nodiscard]] Metadata read_late_png_metadata(ByteSource& source);

// As create_picture(). The bytes depend on the picture and the options alone, not on how the rows
// are handed over.
[[nodiscard]] std::unique_ptr<RowWriter> create_png(ByteSink& sink, const PictureHeader& header,
                                                    const WriteOptions& options);

}  // namespace gpufilter

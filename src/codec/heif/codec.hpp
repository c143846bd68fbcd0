// HEIC and AVIF by libheif.
#pragma once

#include <memory>

#include "codec/codec_table.hpp"

namespace gpufilter {

// The entries in the table of codecs. They differ in how pixels are compressed: by HEVC or AV1.
[[nodiscard]] const Codec& heic_codec();
[[nodiscard]] const Codec& avif_codec();

// The primary picture of a file, turned, mirrored and cropped as the file says: its orientation
// is 1. Grey or RGB, with or without alpha; 8 bits stay 8, more become 16: (v * 65535 + max / 2) /
// max for v in 0..max. The file and its pixels are held in memory as a whole.
[[nodiscard]] std::unique_ptr<RowReader> open_heif(std::unique_ptr<ByteSource> source,
                                                   const ReadLimits& limits);

// As create_picture(). Samples of 16 bits get those of a HEIC or AVIF input, otherwise as many as
// the format has. The orientation of EXIF becomes that of the file. The pixels are held in memory
// as a whole. Throws PictureError if libheif has no encoder.
[[nodiscard]] std::unique_ptr<RowWriter> create_heic(ByteSink& sink, const PictureHeader& header,
                                                     const WriteOptions& options);
[[nodiscard]] std::unique_ptr<RowWriter> create_avif(ByteSink& sink, const PictureHeader& header,
                                                     const WriteOptions& options);

}  // namespace gpufilter

// Netpbm's formats, read and written row by row by code of our own. Programs use open_picture() and
// create_picture() of codec/codec.hpp.
#pragma once

#include <memory>

#include "codec/codec_table.hpp"

namespace gpufilter {

// PPM holds colours, PGM grey, PNM ("any map") either: it is written as the one of the two that the
// picture needs, and bitmaps (PBM) are read as such. PAM holds alpha too.
[[nodiscard]] const Codec& ppm_codec();
[[nodiscard]] const Codec& pgm_codec();
[[nodiscard]] const Codec& pnm_codec();
[[nodiscard]] const Codec& pam_codec();

// As open_picture(). Binary and plain files of any maximum: 255 and 65535 are samples as stored,
// others are scaled to the next of the two, (v * max + maxval / 2) / maxval.
[[nodiscard]] std::unique_ptr<RowReader> open_netpbm(std::unique_ptr<ByteSource> source,
                                                     const ReadLimits& limits);

// As create_picture(), for one of the codecs above: binary, with a maximum of 255 or 65535.
[[nodiscard]] std::unique_ptr<RowWriter> create_netpbm(const Codec& codec, ByteSink& sink,
                                                       const PictureHeader& header,
                                                       const WriteOptions& options);

}  // namespace gpufilter

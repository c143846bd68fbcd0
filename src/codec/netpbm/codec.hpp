// Netpbm's formats, read and written row by row by code of our own.
#pragma once

#include "codec/codec_table.hpp"

namespace gpufilter {

// PPM holds colours, PGM grey, PNM ("any map") either: it is written as the one of the two that the
// picture needs, and bitmaps (PBM) are read as such. PAM holds alpha too. Binary and plain files of
// any maximum are read: 255 and 65535 are samples as stored, others are scaled to the next of the
// two, (v * max + maxval / 2) / maxval. Files are written binary, with a maximum of 255 or 65535.
[[nodiscard]] const Codec& ppm_codec();
[[nodiscard]] const Codec& pgm_codec();
[[nodiscard]] const Codec& pnm_codec();
[[nodiscard]] const Codec& pam_codec();

}  // namespace gpufilter

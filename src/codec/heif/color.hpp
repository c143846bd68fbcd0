// What HEIC and AVIF files say about their colours.
#pragma once

#include "codec/heif/functions.hpp"
#include "codec/heif/tree.hpp"
#include "codec/unread.hpp"
#include "image/metadata.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

// Adds the ICC profile, or where there is none, and for PQ and HLG, code points, those of the
// picture or of the first of its parts. sRGB needs none.
void read_heif_colors(const HeifPicture& picture, Metadata& metadata);

// Says how the file of `image`, which has `format`, is to store its colours, and describes them.
// What cannot be held is added to `left_out`. False if libheif fails.
[[nodiscard]] bool write_heif_colors(heif_image* image, const PixelFormat& format,
                                     const Metadata& metadata, bool is_lossless, LeftOut& left_out);

}  // namespace gpufilter

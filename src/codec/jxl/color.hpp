// What JPEG XL files say about their colours.
#pragma once

#include "codec/jxl/functions.hpp"
#include "codec/unread.hpp"
#include "image/metadata.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

// Chooses the colours of the pixels that `decoder` returns, at JXL_DEC_COLOR_ENCODING: lossy files
// with a profile get its primaries and white point, with the curve of sRGB. libjxl would return
// linear colours, which are too coarse in 8 bits.
void choose_jxl_colors(JxlDecoder* decoder);

// Adds to `metadata` what describes the pixels that `decoder` returns, after
// choose_jxl_colors(): sRGB by its rendering intent, all other colours by an ICC profile, PQ and
// HLG by code points too.
void read_jxl_colors(const JxlDecoder* decoder, Metadata& metadata);

// Sets the colours that `metadata` describes, sRGB if it has no description. What JPEG XL cannot
// hold is added to `left_out`. False if libjxl fails.
[[nodiscard]] bool write_jxl_colors(JxlEncoder* encoder, const PixelFormat& format,
                                    const Metadata& metadata, LeftOut& left_out);

}  // namespace gpufilter

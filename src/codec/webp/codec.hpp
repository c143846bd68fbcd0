// WebP by libwebp.
#pragma once

#include "codec/codec_table.hpp"

namespace gpufilter {

// Files yield RGB or RGBA of 8 bits, of an animation the first frame. A file and its pixels are
// held in memory as a whole, and so are the pixels of a file that is written.
[[nodiscard]] const Codec& webp_codec();

}  // namespace gpufilter

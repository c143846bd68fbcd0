// Pictures as programs show them.
#pragma once

#include "image/image.hpp"
#include "image/metadata.hpp"

namespace gpufilter::html {

// The pixels of a picture with this metadata, 8-bit and without alpha: upright and in sRGB, which
// pages show. Colours of a profile that cannot be used stay.
[[nodiscard]] Image as_shown(Image image, const Metadata& metadata);

}  // namespace gpufilter::html

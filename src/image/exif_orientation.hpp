// The one field of EXIF that says how the stored pixels are to be shown.
#pragma once

#include "image/metadata.hpp"

namespace gpufilter {

// Tag 0x0112 of the first directory (TIFF 6.0, section 8): 1 as stored, 2 to 8 mirrored or turned.
// 1 where `exif`, a TIFF structure, has none that is valid.
[[nodiscard]] int exif_orientation(const Bytes& exif);

}  // namespace gpufilter

// The EXIF field that names the colour space of the pixels.
#pragma once

#include "image/metadata.hpp"

namespace gpufilter {

// Where EXIF has a colour space (tag 0xA001 of its EXIF directory) or XMP has exif:ColorSpace: sets
// it to 1, sRGB, or to 65535, "uncalibrated": the profile says which.
void set_exif_color_space(Metadata& metadata, bool is_srgb);

}  // namespace gpufilter

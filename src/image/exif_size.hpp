// The fields of EXIF and XMP that repeat the size of the picture.
#pragma once

#include "image/metadata.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// Where EXIF has PixelXDimension and PixelYDimension, or ImageWidth and ImageLength, or XMP has
// exif: or tiff: properties of these names: sets them.
void set_exif_size(Metadata& metadata, const ImageSize& size);

}  // namespace gpufilter

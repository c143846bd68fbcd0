// The field of EXIF, and of XMP, that says how the stored pixels should be displayed.
#pragma once

#include <optional>

#include "image/metadata.hpp"

namespace gpufilter {

// Tag 0x0112 of the first directory (TIFF 6.0, section 8): 1 as stored, 2 to 8 mirrored or rotated.
// 1 if `exif`, a TIFF structure, has no valid one.
[[nodiscard]] int exif_orientation(const Bytes& exif);

// The orientation of EXIF, otherwise tiff:Orientation of XMP; nothing if neither has a valid one.
[[nodiscard]] std::optional<int> stored_orientation(const Metadata& metadata);

// EXIF that holds the orientation of `exif` and nothing else; empty if that is 1, which is the
// default.
[[nodiscard]] Bytes exif_with_orientation_alone(const Bytes& exif);

// Sets the orientation that `metadata` has: in EXIF, which gets one unless it is 1, and where XMP
// has tiff:Orientation.
void set_orientation(Metadata& metadata, int orientation);

}  // namespace gpufilter

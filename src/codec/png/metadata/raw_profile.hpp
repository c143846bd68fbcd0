// Metadata that ImageMagick and ExifTool store in PNG as text with a keyword such as "Raw profile
// type iptc" and hexadecimal digits.
#pragma once

#include <string_view>

#include "image/metadata.hpp"

namespace gpufilter {

// Moves EXIF, XMP, IPTC and an ICC profile from such texts to their own fields. A text stays if it
// is damaged, or if `metadata` already has that field.
void take_raw_profiles(Metadata& metadata);

// The text that holds `resources`, Photoshop's image resources with IPTC.
[[nodiscard]] TextEntry raw_profile_of(const Bytes& resources);

}  // namespace gpufilter

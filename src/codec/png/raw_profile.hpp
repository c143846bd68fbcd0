// Metadata that ImageMagick and ExifTool keep in PNG as text: keyword "Raw profile type iptc", say,
// and hexadecimal digits.
#pragma once

#include <string_view>

#include "image/metadata.hpp"

namespace gpufilter {

// Moves EXIF, XMP, IPTC and an ICC profile from such texts to where they belong, except those of
// which `metadata` already has one, and damaged ones, which stay text.
void take_raw_profiles(Metadata& metadata);

// The text that holds `resources`, Photoshop's with IPTC.
[[nodiscard]] TextEntry raw_profile_of(const Bytes& resources);

}  // namespace gpufilter

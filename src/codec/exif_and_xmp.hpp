// Metadata in WebP, JPEG XL and HEIF, which hold EXIF, XMP and an ICC profile.
#pragma once

#include "codec/unread.hpp"
#include "image/metadata.hpp"

namespace gpufilter {

// Adds the other kinds, apart from colours: density, IPTC and text.
void note_all_but_exif_and_xmp(const Metadata& metadata, LeftOut& left_out);

// EXIF as boxes of ISO base media files hold it, after the offset of its TIFF structure (4 bytes).
// Without JPEG's prefix, which some programs leave there. Nothing if the offset points outside.
[[nodiscard]] Bytes exif_from_box(const Bytes& box);
[[nodiscard]] Bytes exif_for_box(const Bytes& exif);

}  // namespace gpufilter

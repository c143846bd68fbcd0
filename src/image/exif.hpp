// EXIF: removing parts of it, its values that say what a picture is and how its stored pixels
// should be displayed (which XMP may say too), and a summary for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "image/metadata.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// Removes the thumbnail and its directory (the second, IFD1) from `exif`, a TIFF structure: it
// shows the picture before it was filtered. At the end of the structure it is cut off.
void remove_exif_thumbnail(Bytes& exif);

// Removes the directory of the location (GPS).
void remove_exif_location(Bytes& exif);

// The first bytes of EXIF and XMP in JPEG's segments.
inline constexpr std::string_view exif_prefix("Exif\0\0", 6);
inline constexpr std::string_view xmp_prefix("http://ns.adobe.com/xap/1.0/\0", 29);

// Removes `exif_prefix`, which some programs write before the TIFF structure by mistake, or twice.
void remove_exif_prefix(Bytes& exif);

// If EXIF has a colour space (tag 0xA001 of its EXIF directory) or XMP has exif:ColorSpace, sets it
// to 1, sRGB, or to 65535, "uncalibrated", which refers to the profile.
void set_exif_color_space(Metadata& metadata, bool is_srgb);

// Updates PixelXDimension and PixelYDimension, or ImageWidth and ImageLength, if EXIF or, as exif:
// or tiff: properties, XMP has them.
void set_exif_size(Metadata& metadata, const ImageSize& size);

struct ExifSummary {
  std::string camera;  // "Apple iPhone 12": Make and Model (EXIF 2.32, section 4.6.4)
  std::string lens;    // LensModel
  std::string taken;   // DateTimeOriginal, otherwise DateTime, as stored: "2024:05:01 10:11:12"
};

// `exif` is a TIFF structure. Missing texts, and those that are not UTF-8, are empty.
[[nodiscard]] ExifSummary exif_summary(const Bytes& exif);

// Tag 0x0112 of the first directory (TIFF 6.0, section 8): 1 as stored, 2 to 8 mirrored or rotated.
// 1 if `exif`, a TIFF structure, has no valid one.
[[nodiscard]] int exif_orientation(const Bytes& exif);

// The orientation of EXIF, otherwise tiff:Orientation of XMP; nothing if neither has a valid one.
[[nodiscard]] std::optional<int> stored_orientation(const Metadata& metadata);

// EXIF with only the orientation of `exif`; empty if it is 1, the default.
[[nodiscard]] Bytes exif_with_orientation_alone(const Bytes& exif);

// Sets the orientation in `metadata`: in EXIF, where it is added unless it is 1, and in XMP's
// tiff:Orientation, if there is one.
void set_orientation(Metadata& metadata, int orientation);

}  // namespace gpufilter

// Metadata in JPEG's marker segments.
#pragma once

#include <string>
#include <vector>

#include "codec/jpeg/decompressor.hpp"
#include "codec/jpeg/library.hpp"
#include "image/metadata.hpp"

namespace gpufilter {

// ICC profile (except those for CMYK), EXIF, XMP, density and comments, after the header was read.
// Adds a line to `warnings` if some of it is damaged or there is too much.
[[nodiscard]] Metadata read_jpeg_metadata(Decompressor& jpeg, JpegErrors& errors,
                                          std::vector<std::string>& warnings);

// Sets the density in the JFIF segment. Call before jpeg_start_compress().
void set_jpeg_density(jpeg_compress_struct& jpeg, const Metadata& metadata);

// Writes ICC profile, EXIF, XMP and comments as far as JPEG can hold them, and logs at debug level
// what it cannot. Call after jpeg_start_compress(), before the first row.
void write_jpeg_metadata(jpeg_compress_struct& jpeg, JpegErrors& errors, const Metadata& metadata);

}  // namespace gpufilter

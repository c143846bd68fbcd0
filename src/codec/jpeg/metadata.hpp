// Metadata in JPEG's marker segments.
#pragma once

#include <string>
#include <vector>

#include "codec/jpeg/decompressor.hpp"
#include "codec/jpeg/library.hpp"
#include "image/metadata.hpp"

namespace gpufilter {

// ICC profile (but not one of CMYK), EXIF, XMP, density and comments, once the header is read.
// Where some of it is damaged or too much, `warnings` get a line.
[[nodiscard]] Metadata read_jpeg_metadata(Decompressor& jpeg, JpegErrors& errors,
                                          std::vector<std::string>& warnings);

// Sets what the JFIF segment says. Before jpeg_start_compress().
void set_jpeg_density(jpeg_compress_struct& jpeg, const Metadata& metadata);

// Writes ICC profile, EXIF, XMP and comments as far as JPEG can hold them, and says in the debug
// log what it cannot. After jpeg_start_compress(), before the first row.
void write_jpeg_metadata(jpeg_compress_struct& jpeg, JpegErrors& errors, const Metadata& metadata);

}  // namespace gpufilter

// Metadata in JPEG's marker segments.
#pragma once

#include <string>
#include <vector>

#include "codec/jpeg/library.hpp"
#include "codec/jpeg/metadata/metadata_layout.hpp"
#include "codec/jpeg/read/decompressor.hpp"
#include "codec/left_out.hpp"
#include "image/metadata.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

// ICC profile, EXIF, XMP, image resources with IPTC, density and comments, after the header was
// read. Adds a line to `warnings` if some of it is damaged or there is too much.
[[nodiscard]] Metadata read_jpeg_metadata(Decompressor& jpeg, JpegErrors& errors,
                                          std::vector<std::string>& warnings);

// The order of all that, and the segments that only JPEG has.
[[nodiscard]] JpegMetadataLayout read_jpeg_metadata_layout(const jpeg_decompress_struct& jpeg);

// Sets the density in the JFIF segment. Call before jpeg_start_compress(). Adds it to `left_out` if
// JPEG cannot hold it, as the next function does with all the rest.
void set_jpeg_density(jpeg_compress_struct& jpeg, const Metadata& metadata, LeftOut& left_out);

// The content of the segments of a picture of `format`.
struct JpegMetadata {
  const Metadata& metadata;
  PixelFormat format;
  const JpegMetadataLayout* layout;  // of the input; nullptr if that is not a JPEG
  bool has_input_colors = false;     // so that the profile describes them in any case
};

// Call after jpeg_start_compress() or jpeg_write_coefficients(), before anything else is written.
void write_jpeg_metadata(jpeg_compress_struct& jpeg, JpegErrors& errors,
                         const JpegMetadata& content, LeftOut& left_out);

}  // namespace gpufilter

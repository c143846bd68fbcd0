// Quantization and chroma subsampling between libjpeg's structs and ours.
#pragma once

#include <memory>

#include "codec/jpeg/library.hpp"
#include "codec/jpeg/settings.hpp"

namespace gpufilter {

// What the header of a file, which has been read, says.
[[nodiscard]] std::shared_ptr<const JpegEncoding> read_jpeg_encoding(
    const jpeg_decompress_struct& jpeg, JpegErrors& errors);

// After jpeg_set_defaults(), which decides the components. Calls libjpeg, so only within
// JpegErrors::run().
void apply_jpeg_settings(jpeg_compress_struct& jpeg, const JpegSettings& settings);

}  // namespace gpufilter

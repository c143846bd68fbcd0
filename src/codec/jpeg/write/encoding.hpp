// Converts the settings of JPEG files between libjpeg's structs and ours.
#pragma once

#include <memory>

#include "codec/jpeg/library.hpp"
#include "codec/jpeg/read/mcu_grid.hpp"
#include "codec/jpeg/write/settings.hpp"
#include "image/color.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// The settings of a file whose header has been read.
[[nodiscard]] std::shared_ptr<const JpegEncoding> read_jpeg_encoding(
    const jpeg_decompress_struct& jpeg, JpegErrors& errors);

// The picture to write, and the settings of the file.
struct JpegPicture {
  ImageSize size;
  PixelFormat format;  // of the rows to be written: any depth, with or without alpha
  Color background;    // behind alpha
  JpegSettings settings;
};

// Creates `jpeg` for rows of 8 bits without alpha, up to jpeg_start_compress(). Calls libjpeg, so
// only within JpegErrors::run().
void create_compressor(jpeg_compress_struct& jpeg, const JpegPicture& picture);

[[nodiscard]] McuGrid mcu_grid(const JpegPicture& picture);

// Bytes of the coefficients that libjpeg holds while it writes a progressive file.
[[nodiscard]] std::uint64_t coefficient_bytes(const JpegPicture& picture);

}  // namespace gpufilter

// The decisions of the JPEG writer for a picture and its options, for its own encoder and for
// others.
#pragma once

#include <optional>

#include "codec/jpeg/write/encoding.hpp"
#include "image/jpeg_coding.hpp"

namespace gpufilter {

[[nodiscard]] JpegPicture jpeg_picture(const PictureHeader& header, const WriteOptions& options);

// Rows of MCUs between two restart markers of its file; 0: there are none.
[[nodiscard]] int restart_rows(const JpegPicture& picture, const WriteOptions& options);

// See Codec::coding.
[[nodiscard]] std::optional<JpegCoding> jpeg_coding(const PictureHeader& header,
                                                    const WriteOptions& options);

}  // namespace gpufilter

// What a writer of JPEG makes of a picture and its options, and how others could code it.
#pragma once

#include <optional>

#include "codec/jpeg/encoding.hpp"
#include "image/jpeg_coding.hpp"

namespace gpufilter {

[[nodiscard]] JpegPicture jpeg_picture(const PictureHeader& header, const WriteOptions& options);

// Rows of MCUs between two restart markers of its file; 0: there are none.
[[nodiscard]] int restart_rows(const JpegPicture& picture, const WriteOptions& options);

// See Codec::coding.
[[nodiscard]] std::optional<JpegCoding> jpeg_coding(const PictureHeader& header,
                                                    const WriteOptions& options);

}  // namespace gpufilter

// Files of a limited size.
#pragma once

#include <memory>

#include "codec/codec.hpp"

namespace gpufilter {

// A writer for create_picture() with max_bytes_option(). It keeps the rows; finish() encodes them
// as the other options say and, if the file is too large, with the highest quality with which it is
// not, found by bisection, as if a lower quality never made a larger file. Throws PictureError if
// there is none, and if the memory limit does not allow the picture.
[[nodiscard]] std::unique_ptr<RowWriter> limited_writer(const Codec& codec, ByteSink& sink,
                                                        const PictureHeader& header,
                                                        const WriteOptions& options);

}  // namespace gpufilter

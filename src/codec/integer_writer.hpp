// Floating-point pictures in formats that hold none.
#pragma once

#include <memory>

#include "codec/codec.hpp"

namespace gpufilter {

// Begins a picture of `header`, whose samples are floats, as create_picture() does: the writer
// gives the codec samples of 16 bits, or of 8 if its files have no more.
[[nodiscard]] std::unique_ptr<RowWriter> integer_writer(const Codec& codec, ByteSink& sink,
                                                        const PictureHeader& header,
                                                        const WriteOptions& options);

}  // namespace gpufilter

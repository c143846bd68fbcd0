// PNG files, through libpng. Use open_picture() and create_picture() of codec/codec.hpp.
#pragma once

#include <memory>

#include "codec/codec.hpp"

namespace gpufilter {

// As open_picture(); `source` stands at the signature. A picture that is not interlaced is
// streamed; an interlaced one is decoded into memory at the first read().
[[nodiscard]] std::unique_ptr<RowReader> open_png(std::unique_ptr<ByteSource> source,
                                                  const ReadLimits& limits);

// As create_picture(). The bytes depend on the picture and the options alone, not on how the rows
// are handed over.
[[nodiscard]] std::unique_ptr<RowWriter> create_png(ByteSink& sink, const PictureHeader& header,
                                                    const WriteOptions& options);

}  // namespace gpufilter

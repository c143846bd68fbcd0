// Writes the coefficients of one JPEG, cropped and turned, as another.
#pragma once

#include <memory>
#include <vector>

#include "codec/codec.hpp"
#include "codec/jpeg/read/decompressor.hpp"
#include "image/placement.hpp"

namespace gpufilter {

// All of it outlives the writer.
struct JpegMove {
  const Decompressor& source;
  Placement placement;
  // The rows of blocks of each component; needed when the writer finishes.
  const std::vector<std::vector<JBLOCKROW>>& rows;
};

// As StoredPicture::create() says. The bytes do not depend on the number of threads.
[[nodiscard]] std::unique_ptr<RowWriter> create_moved_jpeg(ByteSink& sink,
                                                           const PictureHeader& header,
                                                           const WriteOptions& options,
                                                           const JpegMove& move);

}  // namespace gpufilter

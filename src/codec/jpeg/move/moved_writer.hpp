// Writes the coefficients of one JPEG, cropped and turned, as another.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "codec/codec.hpp"
#include "codec/jpeg/read/decompressor.hpp"
#include "image/placement.hpp"

namespace gpufilter {

// Whether the coefficients are those of 8-bit samples; Huffman tables have no codes for larger
// ones.
[[nodiscard]] bool are_in_range(std::span<const JBLOCK> blocks);

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

// The smallest of several ways to store a picture.
#pragma once

#include <vector>

#include "codec/png/read/held_picture.hpp"
#include "codec/png/write/storage.hpp"
#include "image/metadata.hpp"

namespace gpufilter {

struct PngEncoded {
  PngStorage storage;
  std::vector<Bytes> idats = {};  // the data of the IDAT chunks
  std::size_t rows_a_piece = 0;   // of every chunk but the last
  std::size_t bytes = 0;          // of the chunks that depend on the storage
};

// Compresses the picture, which is complete, in each of its storages at the level below the
// highest, and in the best of them at the highest. The result depends on the picture alone.
[[nodiscard]] PngEncoded smallest_png(PngHeldPicture& picture, ImageSize size);

}  // namespace gpufilter

// What the levels of --png-level mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/png/write/filter.hpp"

namespace gpufilter {

// Filtered photographs hardly repeat themselves: Huffman codes alone come close to any search for
// matches, in a fraction of the time. Drawings, text, dithers and gradients do repeat themselves.
struct PngCompression {
  enum class Deflater {
    by_content,  // Huffman codes alone or our own search, as a sample of the chunk suggests
    libdeflate   // the smallest files, and the slowest
  };
  Deflater deflater = Deflater::by_content;
  // Candidates: the filter that makes the sample smallest is used for the whole chunk.
  std::span<const PngFilter> filters;
  // Bytes of the chunk that are compressed to decide about all of it.
  std::size_t sample_bytes = std::size_t{24} << 10U;
  // For Deflater::libdeflate.
  int libdeflate_level = 0;
  // For Deflater::by_content. A search must save this many bytes / price_unit for each position
  // that it looks at, because it takes time.
  std::size_t search_price = 0;
  // For Deflater::by_content. A chunk counts as a photograph if its png_repeated_share() is
  // smaller.
  std::size_t photograph_repeats = 0;
  // For Deflater::by_content. Pictures of up to this many bytes are compressed by whatever makes
  // them smallest, since a search takes little time there.
  std::uint64_t exhaustive_bytes = 0;
  // Chunks are also compressed as at this level, and the smaller result counts. 0: they are not.
  int level_below = 0;
  // For that level a chunk is cut into so many of its chunks. From 2 on, filters are searched row
  // by row as well.
  std::size_t parts = 1;
};

}  // namespace gpufilter

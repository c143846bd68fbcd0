// A PNG file's ancillary chunks: what they hold beside the pixels, and what was wrong with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/byte_source.hpp"
#include "codec/png/chunk.hpp"

namespace gpufilter {

// Whether the chunk may be skipped by who does not know it. tRNS, which PNG counts among them, is
// not one here: it decides pixels.
[[nodiscard]] bool is_ancillary(std::string_view type);

// Damaged chunks that were skipped. They become one warning, however many they are.
class SkippedChunks {
 public:
  void add(std::string_view type, std::string_view reason);

  // For a warning: "tEXt (CRC error), 3 more"; empty where there is none.
  [[nodiscard]] std::string list() const;

 private:
  std::vector<std::string> entries_;  // the first that differ
  std::size_t count_ = 0;
};

class PngAncillary {
 public:
  // Reads the data and the checksum of a chunk at whose data `source` stands. Metadata is kept for
  // take_chunks(), as much as docs/engineering/limits.md says; a chunk with a wrong checksum is
  // skipped. Throws PictureError where the file ends, and where this cannot be an ancillary chunk.
  void read(std::string_view type, std::uint32_t length, ByteSource& source);

  // What was kept since the last call, in the order of the file.
  [[nodiscard]] std::vector<PngChunk> take_chunks();

  // What the first index says (piece_index.hpp), of those read so far.
  [[nodiscard]] std::optional<std::uint32_t> rows_a_piece() const { return rows_a_piece_; }

  [[nodiscard]] SkippedChunks& skipped() { return skipped_; }

 private:
  [[nodiscard]] bool fits(std::uint32_t length);

  std::vector<PngChunk> chunks_;
  std::size_t chunk_bytes_ = 0;  // of all that were kept so far
  std::size_t chunk_count_ = 0;
  std::optional<std::uint32_t> rows_a_piece_;
  SkippedChunks skipped_;
};

}  // namespace gpufilter

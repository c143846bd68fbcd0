// The ancillary chunks of a PNG file, and the damage found in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/byte_source.hpp"
#include "codec/png/read/chunk.hpp"

namespace gpufilter {

// Whether a reader that does not know the chunk may skip it. False for tRNS: PNG calls it
// ancillary, but it decides pixels.
[[nodiscard]] bool is_ancillary(std::string_view type);

// Damaged chunks that were skipped. All of them together make one warning.
class SkippedChunks {
 public:
  void add(std::string_view type, std::string_view reason);

  // For a warning: "tEXt (CRC error), 3 more"; empty if there are none.
  [[nodiscard]] std::string list() const;

 private:
  std::vector<std::string> entries_;  // the first few, without repetitions
  std::size_t count_ = 0;
};

class PngAncillary {
 public:
  // Reads the data and the checksum of a chunk; `source` is at the data. Keeps metadata for
  // take_chunks() within the limits of docs/engineering/limits.md, and skips a chunk with a wrong
  // checksum. Throws PictureError if the file ends, or if this cannot be an ancillary chunk.
  void read(std::string_view type, std::uint32_t length, ByteSource& source);

  // The chunks kept since the last call, in the order of the file.
  [[nodiscard]] std::vector<PngChunk> take_chunks();

  // The contents of the first index (piece_index.hpp) among the chunks read so far.
  [[nodiscard]] std::optional<std::uint32_t> rows_a_piece() const { return rows_a_piece_; }

  // How many frames of an animation, as far as it was read, are not the picture itself.
  [[nodiscard]] std::uint32_t more_frames() const {
    return frames_ > 0 && picture_is_frame_ ? frames_ - 1 : frames_;
  }

  [[nodiscard]] SkippedChunks& skipped() { return skipped_; }

 private:
  [[nodiscard]] bool fits(std::uint32_t length);

  std::vector<PngChunk> chunks_;
  std::size_t chunk_bytes_ = 0;  // of all that were kept so far
  std::size_t chunk_count_ = 0;
  std::optional<std::uint32_t> rows_a_piece_;
  std::uint32_t frames_ = 0;       // of an animation
  bool picture_is_frame_ = false;  // the first of them
  SkippedChunks skipped_;
};

}  // namespace gpufilter

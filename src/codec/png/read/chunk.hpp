// The chunks of a PNG file as bytes, the compression that some of them use inside, and the reading
// of ancillary ones with the damage found in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_cursor.hpp"
#include "codec/byte_source.hpp"
#include "image/metadata.hpp"

namespace gpufilter {

// Bytes of the checksum of a chunk, and of that at the end of zlib's stream.
inline constexpr std::size_t checksum_size = 4;
// The maximum size of a chunk's data.
inline constexpr std::uint32_t longest_chunk = 0x7fffffff;

struct PngChunk {
  std::string type;  // "tEXt"
  Bytes data;        // without length, type and checksum
};

// Inflates the zlib stream `compressed` and subtracts the size of the result from `budget`, in
// bytes. Nothing if the stream is damaged or incomplete, or if the result exceeds the budget.
[[nodiscard]] std::optional<Bytes> zlib_inflate(std::span<const std::uint8_t> compressed,
                                                std::size_t& budget);

[[nodiscard]] Bytes zlib_deflate(std::span<const std::uint8_t> plain);

// PNG's four-byte numbers: big-endian. `bytes` holds at least four.
[[nodiscard]] inline std::uint32_t get_u32(ByteSpan bytes) {
  return static_cast<std::uint32_t>(number_of(bytes.first(4)));
}

// The private chunk gfIX says how compressed pixels are cut into pieces that several threads can
// inflate; docs/engineering/png.md describes it. The case of its letters says: ancillary, private,
// not safe to copy into a file with other pixels.
inline constexpr std::string_view png_index_type = "gfIX";
inline constexpr std::size_t png_index_size = 5;

// The chunk's data for a file whose IDAT chunks hold `rows_a_piece` rows each, the last one perhaps
// fewer.
[[nodiscard]] Bytes make_png_index(std::uint32_t rows_a_piece);

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

  // The contents of the first index among the chunks read so far.
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

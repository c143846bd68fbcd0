// One chunk of a PNG file as bytes, and the compression that some chunks use inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/byte_cursor.hpp"
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

// The number of rows in each IDAT chunk. Nothing if the data is of another version or damaged. The
// number may be wrong: files are not trusted.
[[nodiscard]] std::optional<std::uint32_t> parse_png_index(std::span<const std::uint8_t> data);

}  // namespace gpufilter

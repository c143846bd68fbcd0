// One chunk of a PNG file as bytes, and the compression that some chunks use inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "image/metadata.hpp"

namespace gpufilter {

// Of a chunk, and at the end of zlib's stream.
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

[[nodiscard]] inline std::string_view as_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// PNG's four-byte numbers: big-endian. `bytes` holds at least four.
[[nodiscard]] std::uint32_t get_u32(std::span<const std::uint8_t> bytes);
void put_u32(Bytes& bytes, std::uint32_t value);

}  // namespace gpufilter

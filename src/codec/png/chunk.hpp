// One chunk of a PNG file as bytes, and the compression that some chunks use inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "image/metadata.hpp"

namespace gpufilter {

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
[[nodiscard]] std::uint32_t get_u32(std::span<const std::uint8_t> bytes);
void put_u32(Bytes& bytes, std::uint32_t value);

}  // namespace gpufilter

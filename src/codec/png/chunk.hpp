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

// The zlib stream `compressed`, inflated; what it yields is taken off `budget`, in bytes. Nothing
// where it is damaged, incomplete or larger than the budget.
[[nodiscard]] std::optional<Bytes> zlib_inflate(std::span<const std::uint8_t> compressed,
                                                std::size_t& budget);

[[nodiscard]] Bytes zlib_deflate(std::span<const std::uint8_t> plain);

// PNG's four-byte numbers: big-endian. `bytes` holds at least four.
[[nodiscard]] std::uint32_t get_u32(std::span<const std::uint8_t> bytes);
void put_u32(Bytes& bytes, std::uint32_t value);

}  // namespace gpufilter

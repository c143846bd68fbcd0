// The private chunk gfIX: how a file's compressed pixels are cut into pieces that several threads
// can inflate. docs/engineering/png.md describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "image/metadata.hpp"

namespace gpufilter {

// The case of its letters says: ancillary, private, not safe to copy into a file with other pixels.
inline constexpr std::string_view png_index_type = "gfIX";
inline constexpr std::size_t png_index_size = 5;

// The chunk's data for a file whose IDAT chunks hold `rows_a_piece` rows each, the last one perhaps
// fewer.
[[nodiscard]] Bytes make_png_index(std::uint32_t rows_a_piece);

// The number of rows in each IDAT chunk. Nothing if the data is of another version or damaged. The
// number may be wrong: files are not trusted.
[[nodiscard]] std::optional<std::uint32_t> parse_png_index(std::span<const std::uint8_t> data);

}  // namespace gpufilter

// The private chunk gfIX, which says how the compressed pixels of a file are cut into pieces that
// can be inflated side by side. docs/engineering/png.md describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "image/metadata.hpp"

namespace gpufilter {

// By the case of its letters: ancillary, private, not safe to copy into a file with other pixels.
inline constexpr std::string_view png_index_type = "gfIX";
inline constexpr std::size_t png_index_size = 5;

// The chunk's data. Each IDAT chunk but the last holds so many rows.
[[nodiscard]] Bytes make_png_index(std::uint32_t rows_a_piece);

// How many rows it says; nothing where this program does not understand it. It may lie.
[[nodiscard]] std::optional<std::uint32_t> parse_png_index(std::span<const std::uint8_t> data);

}  // namespace gpufilter

// Letters for pictures that the program draws.
#pragma once

#include <array>
#include <cstdint>

namespace gpufilter {

inline constexpr int glyph_width = 8;
inline constexpr int glyph_height = 13;

// The rows of a glyph, top to bottom; the highest bit is the leftmost pixel.
using Glyph = std::array<std::uint8_t, glyph_height>;

// What is no printable ASCII character appears as '?'.
[[nodiscard]] const Glyph& glyph(char character);

}  // namespace gpufilter

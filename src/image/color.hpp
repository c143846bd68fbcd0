// Colours as text.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gpufilter {

// Red, green and blue, 8 bits each.
using Color = std::array<std::uint8_t, 3>;

// Reads "#rgb", "#rrggbb" or one of the sixteen basic colour names of CSS, in any case. Throws
// UsageError.
[[nodiscard]] Color parse_color(std::string_view text);

}  // namespace gpufilter

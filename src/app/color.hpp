// Colours as people write them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gpufilter {

// Red, green and blue of "#rgb", "#rrggbb" or one of the sixteen basic colour names of CSS, in any
// case. Throws UsageError.
[[nodiscard]] std::array<std::uint8_t, 3> parse_color(std::string_view text);

}  // namespace gpufilter

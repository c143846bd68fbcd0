// Checks of an SVG file without drawing it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpufilter::test {

// Why `svg` is not well-formed: an element that is not closed, or a '<' or '&' in its text; empty
// if nothing was found.
[[nodiscard]] std::string objection_to_svg(std::string_view svg);

[[nodiscard]] std::size_t count_of(std::string_view text, std::string_view part);

}  // namespace gpufilter::test

// UTF-8, character by character.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpufilter {

// The length in bytes, 1 to 4, of the character that `text` begins with; 0 if that is not valid
// UTF-8 or `text` is empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

}  // namespace gpufilter

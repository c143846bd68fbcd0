// UTF-8, character by character.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpufilter {

// Bytes of the character that `text` begins with: 1 to 4; 0 where that is not valid UTF-8, and
// where `text` is empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

}  // namespace gpufilter

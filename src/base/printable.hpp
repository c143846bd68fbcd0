// File names in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpufilter {

// The length in bytes, 1 to 4, of the character that `text` begins with; 0 if that is not valid
// UTF-8 or `text` is empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

// `text` on one line that a terminal shows literally: control characters, which file names may
// contain, are escaped as \n, \t or \x1b; bytes that are not UTF-8 as \xff; characters that break
// lines or change the direction of writing as \u202e. Printable text stays the same.
[[nodiscard]] std::string printable(std::string_view text);

// The text as printable() returns it, in at most `columns` characters (4 or more). A longer text
// loses its beginning and starts with "...", since paths usually differ at the end.
[[nodiscard]] std::string printable_end(std::string_view text, std::size_t columns);

// Removes the mark that some editors put before UTF-8 (U+FEFF).
void remove_byte_order_mark(std::string& text);

}  // namespace gpufilter

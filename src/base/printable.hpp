// Names of files in lines of text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpufilter {

// `text` on one line that a terminal shows as it is: control characters, which names of files may
// hold, as \n, \t or \x1b; bytes that are not UTF-8 as \xff; characters that break lines or turn
// the direction of writing as \u202e. Printable text stays the same.
[[nodiscard]] std::string printable(std::string_view text);

// The same in at most `columns` characters (4 or more): of a longer text the end, after "...",
// where names differ.
[[nodiscard]] std::string printable_end(std::string_view text, std::size_t columns);

}  // namespace gpufilter

// The width of terminals and of text on them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpufilter {

// Moves to the beginning of the line; clears it and the lines that the terminal wrapped from it.
inline constexpr std::string_view erase_line = "\r\033[J";

// Whether `descriptor` is a terminal that supports control sequences.
[[nodiscard]] bool is_terminal(int descriptor);

// The terminal's current width; 80 if it is unknown.
[[nodiscard]] std::size_t terminal_columns(int descriptor);

// The width of UTF-8 text: two columns for a wide character, none for a combining one.
[[nodiscard]] std::size_t display_width(std::string_view text);

// `text` in at most `columns` columns: if it is wider, "..." replaces its end or its beginning.
// Bytes that are not UTF-8 and characters that cannot be printed become question marks.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t columns);
[[nodiscard]] std::string fitted_at_end(std::string_view text, std::size_t columns);

// `text` with line breaks at blanks where lines are wider than `columns`; continuation lines are
// indented by two more. Wider words stay whole.
[[nodiscard]] std::string folded(std::string_view text, std::size_t columns);

// The text as folded for a terminal; `text` as it is if `descriptor` is none.
[[nodiscard]] std::string folded_for(int descriptor, std::string_view text);

}  // namespace gpufilter

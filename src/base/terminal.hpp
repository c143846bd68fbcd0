// What fits on a line of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpufilter {

// Moves to the beginning of the line; clears it and what the terminal wrapped from it.
inline constexpr std::string_view erase_line = "\r\033[J";

// Whether `descriptor` is a terminal that carries out control sequences.
[[nodiscard]] bool is_terminal(int descriptor);

// The terminal's width at this moment; 80 where it does not say.
[[nodiscard]] std::size_t terminal_columns(int descriptor);

// Columns that UTF-8 text takes: two for a wide character, none for a combining one.
[[nodiscard]] std::size_t display_width(std::string_view text);

// `text` in at most `columns` columns: where it is wider, its end or its beginning becomes "...".
// Bytes that are not UTF-8 and characters that cannot be printed become question marks.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t columns);
[[nodiscard]] std::string fitted_at_end(std::string_view text, std::size_t columns);

}  // namespace gpufilter

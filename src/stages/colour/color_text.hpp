// Colour matrices as text: in a file, or written out on the command line.
#pragma once

#include <string>
#include <string_view>

#include "stages/colour/color_matrix.hpp"

namespace gpufilter {

// 3x3, 3x4, 4x4 or 4x5 numbers: a row ends at ';' or at the end of a line, blanks, tabs or a comma
// separate its numbers, '#' begins a comment. Numbers have a decimal point, whatever the locale.
// `file` names the text in messages, with the line; empty: the text of --color itself. Throws
// UsageError.
[[nodiscard]] ColorMatrix parse_color_matrix(std::string_view text, const std::string& file);

// Reads a matrix from a file. Throws UsageError, also if the file cannot be read.
[[nodiscard]] ColorMatrix read_color_matrix(const std::string& path);

// Whether the value of --color is a matrix rather than a name: its first word is a number, or it
// has digits and more than one row. A value that begins like a path ("./", "../", "/") never is.
[[nodiscard]] bool is_matrix_text(std::string_view value);

}  // namespace gpufilter

// The lines of help texts, which are written for the reader of the source, and what they mean.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpufilter {

// Joins lines of prose and of items' texts, which the source breaks where it likes.
[[nodiscard]] std::vector<std::string> joined_lines(std::string_view text);

[[nodiscard]] std::size_t indent_of(std::string_view line);

// Where the text of "  head  text" begins: after two blanks or more. npos if it has no head.
[[nodiscard]] std::size_t text_column(std::string_view line);

}  // namespace gpufilter

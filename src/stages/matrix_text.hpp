// Rows of numbers as text, in an option or a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpufilter {

struct NumberRow {
  int line = 1;  // where it begins
  std::vector<double> numbers;
};

// Rows end with ';' or a line, numbers with blanks or a comma; '#' begins a comment. `place` begins
// messages: an option or a file, whose lines are named if `is_file`. Throws UsageError.
[[nodiscard]] std::vector<NumberRow> parse_number_rows(std::string_view text,
                                                       const std::string& place, bool is_file);

// The text of a file of up to 64 KiB. Throws UsageError: "FILE: is not a text file with WHAT".
[[nodiscard]] std::string read_small_text(const std::string& path, const std::string& what);

}  // namespace gpufilter

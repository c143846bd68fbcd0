// Rows of numbers as text, in an option or a file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpufilter {

struct NumberRow {
  int line = 1;  // where it begins
  std::vector<double> numbers;
  std::string_view last;  // of the numbers, as written: a part of the text
};

// Where rows are written, for messages: "FILE:LINE", or "OPTION: row N".
struct RowsPlace {
  std::string name;  // of a file or an option
  bool is_file = false;

  [[nodiscard]] std::string of_row(std::size_t index, int line) const;
};

enum class Precision { single_precision, double_precision };

// Rows end with ';' or a line, numbers with blanks or a comma; '#' begins a comment. Numbers have a
// decimal point in every locale; in single precision, those that are too large for it are refused.
// Throws UsageError.
[[nodiscard]] std::vector<NumberRow> parse_number_rows(
    std::string_view text, const RowsPlace& place,
    Precision precision = Precision::double_precision);

// The end of words, for those that look at a text before they parse it.
inline constexpr std::string_view row_word_ends = " \t\r\n;,#";

// The text of a file of up to 64 KiB. Throws as read_stage_bytes(), and UsageError "FILE: is not a
// text file with WHAT".
[[nodiscard]] std::string read_small_text(const std::string& path, const std::string& what);

}  // namespace gpufilter

// Numbers as text in options, matrices and networks: one form, one rounding.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.hpp"
#include "stage/options/stage_file.hpp"

namespace gpufilter {

// Files may begin with it.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// A piece of a file or an option for a message, shortened and on one line.
inline std::string shown(std::string_view piece, std::size_t longest = 120) {
  std::string text;
  for (const char c : piece.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : formatted("\\x{:02x}", byte);
  }
  return piece.size() > longest ? text + "..." : text;
}

// A number is an optional sign, decimal digits with an optional point, and an optional exponent:
// "-1", "+.5", "1.", "2e-3". It may have any length. The decimal point is '.' in every locale.
// Blanks, hexadecimal digits, "nan" and "inf" are not allowed.
//
// It becomes the nearest value of the type, rounded once from the decimal digits, half to even. A
// number too small for the type becomes 0; one that is too large is refused.

// Whether all of `text` has that form, however large the number is.
[[nodiscard]] bool is_number(std::string_view text);

// Nothing if `text` is not a number or is too large.
[[nodiscard]] std::optional<double> to_number(std::string_view text);

// "; did you mean 0.5?" for "0,5"; empty if the error is not a decimal comma.
[[nodiscard]] std::string point_advice(std::string_view text);

// The number in double and in single precision. Both throw UsageError: "WHAT: 'TEXT' is not a
// number" and advice, or "WHAT: 'TEXT' is too large: single precision ends at 3.4e38".
[[nodiscard]] double parse_number(std::string_view what, std::string_view text);
[[nodiscard]] float parse_float(std::string_view what, std::string_view text);

struct NumberRow {
  int line = 1;  // where it begins
  std::vector<double> numbers;
  std::string_view last;  // of the numbers, as written: a part of the text
};

// The location of rows, for messages: "FILE:LINE", or "OPTION: row N".
struct RowsPlace {
  std::string name;  // of a file or an option
  bool is_file = false;

  [[nodiscard]] std::string of_row(std::size_t index, int line) const;
};

enum class Precision { single_precision, double_precision };

// Rows end at ';' or a line end, numbers at blanks or a comma; '#' begins a comment. Numbers have a
// decimal point in every locale; single precision refuses those beyond its range. Throws
// UsageError.
[[nodiscard]] std::vector<NumberRow> parse_number_rows(
    std::string_view text, const RowsPlace& place,
    Precision precision = Precision::double_precision);

// The end of words, for those that look at a text before they parse it.
inline constexpr std::string_view row_word_ends = " \t\r\n;,#";

}  // namespace gpufilter

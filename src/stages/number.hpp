// Numbers as people write them in options, matrices and networks: one form, one rounding.
#pragma once

#include <optional>
#include <string_view>

namespace gpufilter {

// A number is an optional sign, decimal digits with an optional point, and an optional exponent:
// "-1", "+.5", "1.", "2e-3". It may be of any length. The point is a point in every locale. Blanks,
// hexadecimal digits, "nan" and "inf" are no part of a number.
//
// It becomes the nearest value of the type, rounded once from the decimal digits, half to even.
// What is too small for the type becomes 0; what is too large is refused.

// Whether all of `text` has that form, however large the number is.
[[nodiscard]] bool is_number(std::string_view text);

// Nothing where `text` is not a number or is too large.
[[nodiscard]] std::optional<double> to_number(std::string_view text);

// The same in double and in single precision. Both throw UsageError: "WHAT: 'TEXT' is not a
// number", or "WHAT: 'TEXT' is too large: single precision ends at 3.4e38".
[[nodiscard]] double parse_number(std::string_view what, std::string_view text);
[[nodiscard]] float parse_float(std::string_view what, std::string_view text);

}  // namespace gpufilter

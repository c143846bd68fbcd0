// Numbers in the values of options.
#pragma once

#include <optional>
#include <string_view>

namespace gpufilter {

// The whole of `text` as a finite decimal number, whatever the locale; nothing for other texts.
[[nodiscard]] std::optional<double> to_number(std::string_view text);

// The same. Throws UsageError "WHAT: 'TEXT' is not a number".
[[nodiscard]] double parse_number(std::string_view what, std::string_view text);

}  // namespace gpufilter

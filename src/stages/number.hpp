// Numbers in the values of options.
#pragma once

#include <string_view>

namespace gpufilter {

// The whole of `text` as a finite decimal number, whatever the locale. Throws UsageError
// "WHAT: 'TEXT' is no number".
[[nodiscard]] double parse_number(std::string_view what, std::string_view text);

}  // namespace gpufilter

// Names of files in lines of text.
#pragma once

#include <string>
#include <string_view>

namespace gpufilter {

// `text` on one line: control characters, which names of files may hold, as \n, \t or \x1b.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace gpufilter

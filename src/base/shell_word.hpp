// Shell quoting, for command lines that people may copy.
#pragma once

#include <string>

namespace gpufilter {

// `word` quoted for a shell, if necessary.
[[nodiscard]] std::string shell_word(const std::string& word);

}  // namespace gpufilter

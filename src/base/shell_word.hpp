// Words of command lines that people may copy.
#pragma once

#include <string>

namespace gpufilter {

// `word` as a shell takes it: in quotes where it needs them.
[[nodiscard]] std::string shell_word(const std::string& word);

}  // namespace gpufilter

// Shell quoting, for command lines that people may copy.
#pragma once

#include <string>

namespace gpufilter {

// `word` quoted for a shell, if necessary. Characters that printable() escapes are written as in
// $'a\nb', which bash, zsh and ksh understand, so that the word can be shown and copied.
[[nodiscard]] std::string shell_word(const std::string& word);

}  // namespace gpufilter

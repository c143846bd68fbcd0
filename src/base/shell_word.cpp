#include "base/shell_word.hpp"

#include <string_view>

#include "base/printable.hpp"

namespace gpufilter {

std::string shell_word(const std::string& word) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  if (printable(word) != word) {
    std::string escaped;
    for (const char c : word)
      escaped += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    return "$'" + printable(escaped) + "'";
  }
  std::string quoted = "'";
  for (const char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace gpufilter

#include "base/printable.hpp"

#include "base/format.hpp"

namespace gpufilter {

std::string printable(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      line += formatted("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace gpufilter

#include "base/text_file.hpp"

#include <cstdint>
#include <string_view>

#include <fcntl.h>

#include "base/posix_file.hpp"

namespace gpufilter {

std::string read_text_file(const std::string& path) {
  constexpr std::size_t step = std::size_t{1} << 20U;
  const FileDescriptor file = open_file(path, O_RDONLY);
  std::string text;
  for (std::size_t got = step; got == step;) {
    const std::size_t size = text.size();
    text.resize(size + step);
    got = read_fully(file.get(), {reinterpret_cast<std::uint8_t*>(text.data()) + size, step});
    text.resize(size + got);
  }
  remove_byte_order_mark(text);
  return text;
}

void remove_byte_order_mark(std::string& text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.erase(0, mark.size());
}

}  // namespace gpufilter

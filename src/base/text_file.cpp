#include "base/text_file.hpp"

#include <string_view>

namespace gpufilter {

void remove_byte_order_mark(std::string& text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.erase(0, mark.size());
}

}  // namespace gpufilter

#include "image/xmp_number.hpp"

#include <algorithm>
#include <string>

namespace gpufilter {

void set_xmp_number(Bytes& xmp, std::string_view property, int number) {
  std::string text(xmp.begin(), xmp.end());
  constexpr std::string_view digits = "0123456789";
  constexpr std::string_view between = "=\"'> \t\r\n";
  for (auto at = text.find(property); at != std::string::npos; at = text.find(property, at)) {
    at += property.size();
    const auto begin = std::min(text.find_first_not_of(between, at), text.size());
    const auto end = std::min(text.find_first_not_of(digits, begin), text.size());
    if (begin > at && end > begin) text.replace(begin, end - begin, std::to_string(number));
  }
  xmp.assign(text.begin(), text.end());
}

}  // namespace gpufilter

#include "image/xmp_number.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace gpufilter {
namespace {

// The digits of the first number that `property` has from `at` on; empty at the end of the text.
std::string_view find_number(std::string_view text, std::string_view property, std::size_t at) {
  constexpr std::string_view digits = "0123456789";
  constexpr std::string_view between = "=\"'> \t\r\n";
  while ((at = text.find(property, at)) != std::string_view::npos) {
    at += property.size();
    const auto begin = std::min(text.find_first_not_of(between, at), text.size());
    const auto end = std::min(text.find_first_not_of(digits, begin), text.size());
    if (begin > at && end > begin) return text.substr(begin, end - begin);
  }
  return text.substr(text.size());
}

std::string_view text_of(const Bytes& xmp) {
  return {reinterpret_cast<const char*>(xmp.data()), xmp.size()};
}

}  // namespace

std::optional<int> xmp_number(const Bytes& xmp, std::string_view property) {
  const std::string_view digits = find_number(text_of(xmp), property, 0);
  int number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

void set_xmp_number(Bytes& xmp, std::string_view property, int number) {
  const std::string value = std::to_string(number);
  for (std::size_t at = 0;;) {
    const std::string_view digits = find_number(text_of(xmp), property, at);
    if (digits.empty()) return;
    const auto begin = digits.data() - text_of(xmp).data();
    const auto end = begin + static_cast<std::ptrdiff_t>(digits.size());
    at = static_cast<std::size_t>(begin) + value.size();
    xmp.erase(xmp.begin() + begin, xmp.begin() + end);
    xmp.insert(xmp.begin() + begin, value.begin(), value.end());
  }
}

}  // namespace gpufilter

#include "image/xmp.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace gpufilter {
namespace {

constexpr std::string_view white_space = " \t\r\n";

// The end of the tag that begins at `at`, behind its '>'. A '>' in quotes does not end it.
std::size_t end_of_tag(const std::string& xmp, std::size_t at) {
  char quote = 0;
  for (; at < xmp.size(); ++at) {
    const char c = xmp[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return at + 1;
    }
  }
  return std::string::npos;
}

// The end of the element whose tag begins at `at`, with what it contains.
std::size_t end_of_element(const std::string& xmp, std::size_t at) {
  const std::size_t opened = end_of_tag(xmp, at);
  if (opened == std::string::npos || xmp[opened - 2] == '/') return opened;
  const std::size_t name_end = xmp.find_first_of(" \t\r\n/>", at + 1);
  const std::size_t closing = xmp.find("</" + xmp.substr(at + 1, name_end - at - 1), opened);
  return closing == std::string::npos ? closing : end_of_tag(xmp, closing);
}

// The end of the attribute whose name begins at `at`: behind the quote that ends its value.
std::size_t end_of_attribute(const std::string& xmp, std::size_t at) {
  const std::size_t sign = xmp.find_first_of("=<>", at);
  if (sign == std::string::npos || xmp[sign] != '=') return std::string::npos;
  const std::size_t quote = xmp.find_first_not_of(white_space, sign + 1);
  if (quote == std::string::npos || (xmp[quote] != '"' && xmp[quote] != '\''))
    return std::string::npos;
  const std::size_t last = xmp.find(xmp[quote], quote + 1);
  return last == std::string::npos ? last : last + 1;
}

// Removes the elements and attributes whose names begin like this. Returns whether there were some.
bool remove_properties(std::string& xmp, std::string_view name) {
  bool found = false;
  for (auto at = xmp.find(name, 1); at != std::string::npos; at = xmp.find(name, at)) {
    const bool is_element = xmp[at - 1] == '<';
    const bool is_attribute = white_space.find(xmp[at - 1]) != std::string_view::npos;
    const std::size_t begin =
        is_element ? at - 1
                   : xmp.find_last_not_of(white_space, at - 1) + 1;  // with its white space
    const std::size_t end = is_element     ? end_of_element(xmp, begin)
                            : is_attribute ? end_of_attribute(xmp, at)
                                           : std::string::npos;
    if (end == std::string::npos) {
      ++at;
      continue;
    }
    xmp.erase(begin, end - begin);
    at = std::max<std::size_t>(begin, 1);
    found = true;
  }
  return found;
}

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

XmpParts remove_announced_parts(Bytes& xmp) {
  constexpr std::array<std::string_view, 5> names{"GCamera:MotionPhoto", "Camera:MotionPhoto",
                                                  "GCamera:MicroVideo", "GContainer:Directory",
                                                  "Container:Directory"};
  std::string text(xmp.begin(), xmp.end());
  XmpParts parts;
  parts.depth_map = text.find("Semantic=\"Depth") != std::string::npos ||
                    text.find("Semantic>Depth") != std::string::npos;
  parts.gain_map = remove_properties(text, "hdrgm:");
  for (const std::string_view name : names)
    static_cast<void>(remove_properties(text, name));
  if (text.size() < xmp.size()) xmp.assign(text.begin(), text.end());
  return parts;
}

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

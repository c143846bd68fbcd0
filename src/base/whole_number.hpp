// Whole numbers in texts.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace gpufilter {

// Whether `text` is a number and nothing else; if so, `number` is set to it.
template <typename Number>
[[nodiscard]] bool parse_whole(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

}  // namespace gpufilter

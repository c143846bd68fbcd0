// The lines of journals: words between spaces, under a checksum.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufilter {

// `text` with its checksum in front, as one line without its end; and back: nothing where the line
// is damaged.
[[nodiscard]] std::string sealed(const std::string& text);
[[nodiscard]] std::optional<std::string_view> unsealed(std::string_view line);

// Any bytes as one word, without spaces, line ends and anything else that a line must not hold; and
// back: nothing where `text` is no such word.
[[nodiscard]] std::string escaped(std::string_view bytes);
[[nodiscard]] std::optional<std::string> unescaped(std::string_view text);

[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// Whether `text` is a number and nothing else, which `number` then holds.
template <typename Number>
[[nodiscard]] bool parse_whole(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

}  // namespace gpufilter

// The lines of journals: words separated by spaces, protected by a checksum.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufilter {

// Bytes that are read of a journal or a list of pictures. A picture takes some 250.
constexpr std::uint64_t largest_journal = std::uint64_t{4} << 30U;

// `text` after its checksum, as one line without a line end; and back: nothing if the line is
// damaged.
[[nodiscard]] std::string sealed(const std::string& text);
[[nodiscard]] std::optional<std::string_view> unsealed(std::string_view line);

// How much of a journal cannot be read.
struct Damage {
  std::size_t lines = 0;    // of all kinds, damaged ones among them
  std::size_t damaged = 0;  // whose checksum is wrong

  // "is damaged: 2 of 7 lines cannot be read"
  [[nodiscard]] std::string text() const;
};

// Counts the lines of a journal. An incomplete last line is not damage: its writer was killed.
[[nodiscard]] Damage damage_in(std::string_view journal);

// Any bytes as one word without spaces, line ends or other control characters; and back: nothing
// if `text` is not such a word.
[[nodiscard]] std::string escaped(std::string_view bytes);
[[nodiscard]] std::optional<std::string> unescaped(std::string_view text);

[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace gpufilter

// Text on its way into a parser, and pieces of it in messages.
#pragma once

#include <iterator>
#include <string>
#include <string_view>

#include "base/format.hpp"

namespace gpufilter {

// A piece of the file for a message: whatever it is, it stays short and on one line.
inline std::string shown(std::string_view piece) {
  constexpr std::size_t longest = 120;
  std::string text;
  for (const char c : piece.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : formatted("\\x{:02x}", byte);
  }
  return piece.size() > longest ? text + "..." : text;
}

// "1 input", "2 inputs".
inline std::string counted(int count, const char* what) {
  return formatted("{} {}{}", count, what, count == 1 ? "" : "s");
}

// The line of the last character that the parser has taken.
struct TextPosition {
  int line = 1;
  char taken = '\0';
};

// Hands the text to the parser, a character at a time, and keeps the position up to date.
class TrackedIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TrackedIterator(TextPosition& position, const char* at) : position_(&position), at_(at) {}
  reference operator*() const { return *at_; }
  TrackedIterator& operator++() {
    if (position_->taken == '\n') ++position_->line;
    position_->taken = *at_++;
    return *this;
  }
  bool operator==(const TrackedIterator& other) const { return at_ == other.at_; }
  bool operator!=(const TrackedIterator& other) const { return at_ != other.at_; }

 private:
  TextPosition* position_;
  const char* at_;
};

}  // namespace gpufilter

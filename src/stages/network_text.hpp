// Feeds text to a parser and tracks its position.
#pragma once

#include <iterator>

namespace gpufilter {

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

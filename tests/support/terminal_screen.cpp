#include "support/terminal_screen.hpp"

#include <algorithm>

namespace gpufilter::test {
namespace {

std::size_t character_bytes(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

// The width of a character, for the scripts that our tests use.
std::size_t character_width(const std::string& character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (first == 0xcc || first == 0xcd) return 0;  // combining marks
  return first >= 0xe3 ? 2 : 1;                  // East Asian scripts and emoji
}

}  // namespace

std::string TerminalScreen::text_of(const Row& row) {
  std::string text;
  for (const Cell& cell : row) {
    if (!cell.is_rest) text += cell.bytes.empty() ? " " : cell.bytes;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::vector<std::string> TerminalScreen::rows() const {
  std::vector<std::string> texts;
  for (const Row& row : rows_)
    texts.push_back(text_of(row));
  while (!texts.empty() && texts.back().empty())
    texts.pop_back();
  return texts;
}

void TerminalScreen::new_line() {
  if (++row_ == rows_.size()) rows_.emplace_back();
}

void TerminalScreen::put(const std::string& character, std::size_t width) {
  if (width == 0) {
    if (column_ > 0) rows_[row_][column_ - 1].bytes += character;
    return;
  }
  if (column_ + width > columns_) {
    // Messages may have any length.
    if (text_of(rows_[row_]).rfind("gpufilter: ", 0) != 0) ++wraps_;
    new_line();
    column_ = 0;
  }
  Row& row = rows_[row_];
  row.resize(std::max(row.size(), column_ + width));
  row[column_] = {character, false};
  for (std::size_t i = 1; i < width; ++i)
    row[column_ + i] = {"", true};
  column_ += width;
}

void TerminalScreen::control(const std::string& sequence) {
  if (sequence != "\033[J") {
    unknown_ += sequence.substr(1) + " ";
    return;
  }
  Row& row = rows_[row_];
  const std::string before = text_of(row);
  if (!before.empty() && (erased_.empty() || erased_.back() != before)) erased_.push_back(before);
  row.resize(std::min(row.size(), column_));
  rows_.resize(row_ + 1);
}

void TerminalScreen::write(const std::string& bytes) {
  for (const char byte : bytes) {
    pending_ += byte;
    if (pending_[0] == '\033') {
      const bool is_whole = pending_.size() > 2 && byte >= '@' && byte <= '~';
      if (!is_whole) continue;
      control(pending_);
    } else if (byte == '\r') {
      column_ = 0;
    } else if (byte == '\n') {
      new_line();
    } else if (pending_.size() < character_bytes(static_cast<unsigned char>(pending_[0]))) {
      continue;
    } else {
      put(pending_, character_width(pending_));
    }
    pending_.clear();
  }
}

void TerminalScreen::resize(std::size_t columns) {
  columns_ = columns;
  Row rest = rows_[row_];
  std::vector<Row> pieces;
  while (rest.size() > columns) {
    const auto end = rest.begin() + static_cast<std::ptrdiff_t>(columns);
    pieces.emplace_back(rest.begin(), end);
    rest.erase(rest.begin(), end);
  }
  pieces.push_back(rest);
  const auto at = rows_.begin() + static_cast<std::ptrdiff_t>(row_);
  rows_.insert(rows_.erase(at), pieces.begin(), pieces.end());
  row_ += column_ / columns;
  column_ %= columns;
}

}  // namespace gpufilter::test

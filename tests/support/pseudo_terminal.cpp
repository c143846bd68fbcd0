#include "support/pseudo_terminal.hpp"

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>

#include "support/child_process.hpp"

namespace gpufilter::test {
namespace {

struct winsize size_of(int columns) {
  struct winsize size {};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = 24;
  return size;
}

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

PseudoTerminal::PseudoTerminal(const std::vector<std::string>& command, const std::string& folder,
                               int columns) {
  std::vector<char*> words;
  for (const std::string& word : command)
    words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  struct winsize size = size_of(columns);
  int terminal = -1;
  child_ = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child_ < 0) throw std::system_error(errno, std::generic_category());
  if (child_ == 0) {
    std::signal(SIGINT, SIG_DFL);  // a shell's background job, which this may be, ignores it
    ::setenv("TERM", "xterm", 1);
    ::setenv("NO_COLOR", "1", 1);
    if (::chdir(folder.c_str()) == 0) ::execv(words[0], words.data());
    ::_exit(99);
  }
  terminal_ = FileDescriptor(terminal);
}

PseudoTerminal::~PseudoTerminal() {
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);
  static_cast<void>(wait());
}

std::string PseudoTerminal::read(int milliseconds) {
  pollfd waiting{terminal_.get(), POLLIN, 0};
  if (::poll(&waiting, 1, milliseconds) <= 0) return "";
  std::array<char, 4096> piece{};
  // Fails once the program has ended.
  const ssize_t count = ::read(terminal_.get(), piece.data(), piece.size());
  return count > 0 ? std::string(piece.data(), static_cast<std::size_t>(count)) : "";
}

std::string PseudoTerminal::read_to_end() {
  std::string all;
  for (std::string text = read(); !text.empty(); text = read())
    all += text;
  return all;
}

void PseudoTerminal::halt() {
  ::kill(child_, SIGSTOP);
  int status = 0;
  ::waitpid(child_, &status, WUNTRACED);
}

void PseudoTerminal::go_on() {
  ::kill(child_, SIGCONT);
}

void PseudoTerminal::set_columns(int columns) {
  const struct winsize size = size_of(columns);
  if (::ioctl(terminal_.get(), TIOCSWINSZ, &size) != 0) {
    throw std::system_error(errno, std::generic_category());
  }
}

void PseudoTerminal::press(char key) {
  if (::write(terminal_.get(), &key, 1) != 1) {
    throw std::system_error(errno, std::generic_category());
  }
}

int PseudoTerminal::wait() {
  const int code = wait_for_child(child_);
  child_ = -1;
  return code;
}

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

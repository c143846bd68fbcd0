#include "support/pseudo_terminal.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "support/child_process.hpp"

namespace gpufilter::test {
namespace {

struct winsize size_of(int columns) {
  struct winsize size {};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = 24;
  return size;
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

}  // namespace gpufilter::test

// A program in a terminal of its own, with a keyboard.
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"

namespace gpufilter::test {

class PseudoTerminal {
 public:
  // Starts `command` in `folder`, its three standard streams on a terminal of that many columns.
  // Throws std::system_error.
  PseudoTerminal(const std::vector<std::string>& command, const std::string& folder, int columns);
  ~PseudoTerminal();
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  // The output since the last call, after waiting for it for at most `milliseconds`; empty if there
  // is none, and at the end.
  [[nodiscard]] std::string read(int milliseconds = 10'000);
  // All output until the program's end.
  [[nodiscard]] std::string read_to_end();

  // As if the user resized the window while the program is stopped. `read_before` gets the output
  // written by then.
  template <typename ReadBefore>
  void resize(int columns, ReadBefore read_before) {
    halt();
    for (std::string text = read(20); !text.empty(); text = read(20))
      read_before(text);
    set_columns(columns);
    go_on();
  }

  // As if the user pressed the key; '\3' is Ctrl-C.
  void press(char key);

  // Its exit code, or 1000 + the signal that ended it.
  [[nodiscard]] int wait();

 private:
  void halt();
  void go_on();
  void set_columns(int columns);

  FileDescriptor terminal_;
  int child_ = -1;
};

}  // namespace gpufilter::test

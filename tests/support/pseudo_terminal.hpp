// A program in a terminal of its own, with a keyboard, and how a terminal shows its output.
#pragma once

#include "base/files.hpp"
#include "support/testing.hpp"

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

class TerminalScreen {
 public:
  explicit TerminalScreen(std::size_t columns) : columns_(columns) {}

  void write(const std::string& bytes);
  // Lines too wide for the new width are wrapped, as current terminals do; the cursor stays at its
  // character.
  void resize(std::size_t columns);

  // The rows, without blanks at their ends. A line that was wrapped takes several.
  [[nodiscard]] std::vector<std::string> rows() const;
  // Texts that were erased or overwritten, as they were shown; consecutive repeats count once.
  [[nodiscard]] const std::vector<std::string>& erased() const { return erased_; }
  // How many times a line was too wide when it was written; messages may be too wide and do not
  // count.
  [[nodiscard]] int wraps() const { return wraps_; }
  // Unknown control sequences.
  [[nodiscard]] const std::string& unknown() const { return unknown_; }

 private:
  struct Cell {
    std::string bytes;
    bool is_rest = false;  // of a wide character
  };
  using Row = std::vector<Cell>;

  void put(const std::string& character, std::size_t width);
  void control(const std::string& sequence);
  void new_line();
  static std::string text_of(const Row& row);

  std::size_t columns_;
  std::vector<Row> rows_{1};
  std::size_t row_ = 0;
  std::size_t column_ = 0;
  std::vector<std::string> erased_;
  int wraps_ = 0;
  std::string unknown_;
  std::string pending_;  // an unfinished character or sequence
};

}  // namespace gpufilter::test

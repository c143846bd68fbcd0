// Simulates how a terminal shows the output of our program.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gpufilter::test {

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

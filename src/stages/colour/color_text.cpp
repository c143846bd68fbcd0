#include "stages/colour/color_text.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "stage/options/matrix_text.hpp"
#include "stage/options/number.hpp"
#include "stage/options/text_pieces.hpp"

namespace gpufilter {
namespace {

// The format with the largest samples.
constexpr PixelFormat deepest{4, 16};

constexpr std::string_view shapes = "a matrix is 3x3, 3x4, 4x4 or 4x5";

// Words are quoted up to this length.
constexpr std::size_t longest = 32;

class MatrixParser {
 public:
  MatrixParser(std::string_view text, const std::string& file)
      : place_{file.empty() ? "--color" : file, !file.empty()},
        rows_(parse_number_rows(text, place_, Precision::single_precision)),
        lines_(1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'))) {}

  [[nodiscard]] ColorMatrix parse() {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      check_row(i);
    check_shape();
    MatrixRows numbers;
    for (NumberRow& row : rows_) {
      if (row.numbers.size() > rows_.size()) set_bias(row);
      numbers.push_back(std::move(row.numbers));
    }
    return to_matrix(numbers);
  }

 private:
  void check_row(std::size_t index) const {
    const NumberRow& row = rows_[index];
    const auto fail = [&](const std::string& reason) {
      throw UsageError(formatted("{}: {}", place_.of_row(index, row.line), reason));
    };
    const std::size_t count = row.numbers.size();
    const std::string found =
        formatted("row of {}, ending in '{}'", counted(count, "number"), shown(row.last, longest));
    if (index == 4) fail(formatted("a fifth {}; {}", found, shapes));
    if (count < 3 || count > 5) fail(formatted("a {}; {}", found, shapes));
    const std::size_t before = rows_.front().numbers.size();
    if (count != before) fail(formatted("a {}, but the first row has {}", found, before));
  }

  void check_shape() const {
    if (rows_.empty())
      throw UsageError(formatted("{}: no number in it; {}", at_line(lines_), shapes));
    const std::size_t count = rows_.front().numbers.size();
    if (rows_.size() < 3 || count < rows_.size() || count > rows_.size() + 1) {
      throw UsageError(formatted("{}: {} of {} numbers, ending in '{}'; {}",
                                 at_line(rows_.back().line), counted(rows_.size(), "row"), count,
                                 shown(rows_.back().last, longest), shapes));
    }
  }

  // The last number is added: it is rounded after multiplication by the largest sample.
  void set_bias(NumberRow& row) const {
    row.numbers.back() = parse_number(at_line(row.line), row.last);
    if (std::isfinite(static_cast<float>(row.numbers.back() * deepest.max_sample()))) return;
    throw UsageError(
        formatted("{}: '{}' is too large to be added: single precision ends at 3.4e38, and it is a "
                  "share of the largest sample, up to {}",
                  at_line(row.line), shown(row.last, longest), deepest.max_sample()));
  }

  // For what concerns the whole matrix.
  [[nodiscard]] std::string at_line(int line) const {
    return place_.is_file ? place_.of_row(0, line) : place_.name;
  }

  RowsPlace place_;
  std::vector<NumberRow> rows_;
  int lines_;  // of the text
};

bool begins_with_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
  return is_number(text.substr(0, text.find_first_of(row_word_ends)));
}

}  // namespace

ColorMatrix parse_color_matrix(std::string_view text, const std::string& file) {
  return MatrixParser(text, file).parse();
}

ColorMatrix read_color_matrix(const std::string& path) {
  return parse_color_matrix(read_small_text(path, "a matrix of up to 4x5 numbers"), path);
}

bool is_matrix_text(std::string_view value) {
  for (const std::string_view path : {"/", "./", "../"}) {
    if (value.starts_with(path)) return false;
  }
  if (begins_with_number(value)) return true;
  const bool has_digit = value.find_first_of("0123456789") != std::string_view::npos;
  return has_digit && value.find_first_of(";\n") != std::string_view::npos;
}

}  // namespace gpufilter

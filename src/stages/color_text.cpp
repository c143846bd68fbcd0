#include "stages/color_text.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/format.hpp"
#include "stages/matrix_text.hpp"
#include "stages/number.hpp"
#include "stages/text_pieces.hpp"

namespace gpufilter {
namespace {

// The format with the largest samples.
constexpr PixelFormat deepest{4, 16};

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::string_view word_ends = " \t\r\n;,#";
constexpr std::string_view shapes = "a matrix is 3x3, 3x4, 4x4 or 4x5";

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// Words are quoted up to this length.
constexpr std::size_t longest = 32;

struct Row {
  int line = 1;
  std::vector<double> numbers;  // in single precision
  std::string_view last;        // of the numbers, as written
};

class MatrixParser {
 public:
  MatrixParser(std::string_view text, const std::string& file) : text_(text), file_(file) {
    if (text_.substr(0, byte_order_mark.size()) == byte_order_mark) {
      text_.remove_prefix(byte_order_mark.size());
    }
  }

  [[nodiscard]] ColorMatrix parse() {
    while (!text_.empty())
      take();
    end_row();
    check_shape();
    MatrixRows numbers;
    for (Row& row : rows_) {
      if (row.numbers.size() > rows_.size()) set_bias(row);
      numbers.push_back(std::move(row.numbers));
    }
    return to_matrix(numbers);
  }

 private:
  // One step: the end of a row, a comment, a separator or a number.
  void take() {
    const char c = text_.front();
    if (c == '\n' || c == ';') {
      text_.remove_prefix(1);
      end_row();
      row_.line += c == '\n' ? 1 : 0;
    } else if (c == '#') {
      text_.remove_prefix(std::min(text_.find('\n'), text_.size()));
    } else if (c == ',') {
      if (!comma_allowed_) fail("',' without a number before it");
      comma_allowed_ = false;
      text_.remove_prefix(1);
    } else if (is_blank(c)) {
      text_.remove_prefix(1);
    } else {
      take_number();
    }
  }

  void take_number() {
    const std::size_t size = std::min(text_.find_first_of(word_ends), text_.size());
    const std::string_view word = text_.substr(0, size);
    text_.remove_prefix(size);
    row_.numbers.push_back(parse_float(here(), word));
    row_.last = word;
    comma_allowed_ = true;
  }

  void end_row() {
    const int line = row_.line;
    if (!row_.numbers.empty()) {
      check_row();
      rows_.push_back(std::move(row_));
    }
    row_ = Row{line, {}, {}};
    comma_allowed_ = false;
  }

  void check_row() const {
    const std::size_t count = row_.numbers.size();
    const std::string found = formatted("row of {} number{}, ending in '{}'", count,
                                        count == 1 ? "" : "s", shown(row_.last, longest));
    if (rows_.size() == 4) fail(formatted("a fifth {}; {}", found, shapes));
    if (count < 3 || count > 5) fail(formatted("a {}; {}", found, shapes));
    const std::size_t before = rows_.empty() ? count : rows_.front().numbers.size();
    if (count != before) fail(formatted("a {}, but the first row has {}", found, before));
  }

  void check_shape() const {
    if (rows_.empty()) fail_whole(formatted("no number in it; {}", shapes));
    const std::size_t count = rows_.front().numbers.size();
    if (rows_.size() < 3 || count < rows_.size() || count > rows_.size() + 1) {
      fail_whole(formatted("{} row{} of {} numbers, ending in '{}'; {}", rows_.size(),
                           rows_.size() == 1 ? "" : "s", count, shown(rows_.back().last, longest),
                           shapes));
    }
  }

  // The last number is added: it is rounded after multiplication by the largest sample.
  void set_bias(Row& row) const {
    row.numbers.back() = parse_number(at_line(row.line), row.last);
    if (std::isfinite(static_cast<float>(row.numbers.back() * deepest.max_sample()))) return;
    throw UsageError(
        formatted("{}: '{}' is too large to be added: single precision ends at 3.4e38, and it is a "
                  "share of the largest sample, up to {}",
                  at_line(row.line), shown(row.last, longest), deepest.max_sample()));
  }

  [[nodiscard]] std::string at_line(int line) const {
    return file_.empty() ? std::string("--color") : formatted("{}:{}", file_, line);
  }

  // The place of the current row.
  [[nodiscard]] std::string here() const {
    return file_.empty() ? formatted("--color: row {}", rows_.size() + 1) : at_line(row_.line);
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw UsageError(formatted("{}: {}", here(), reason));
  }

  [[noreturn]] void fail_whole(const std::string& reason) const {
    const int line = rows_.empty() ? row_.line : rows_.back().line;
    throw UsageError(formatted("{}: {}", at_line(line), reason));
  }

  std::string_view text_;  // the text that remains to be read
  const std::string& file_;
  std::vector<Row> rows_;
  Row row_;
  bool comma_allowed_ = false;
};

bool begins_with_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
  return is_number(text.substr(0, text.find_first_of(word_ends)));
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

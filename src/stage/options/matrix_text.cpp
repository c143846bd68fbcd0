#include "stage/options/matrix_text.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "stage/options/limited_file.hpp"
#include "stage/options/number.hpp"

namespace gpufilter {
namespace {

constexpr std::uint64_t largest_file = 65536;

class RowsParser {
 public:
  RowsParser(std::string_view text, const RowsPlace& place, Precision precision)
      : text_(text), place_(place), precision_(precision) {
    if (text_.starts_with(byte_order_mark)) text_.remove_prefix(byte_order_mark.size());
  }

  [[nodiscard]] std::vector<NumberRow> parse() {
    while (!text_.empty())
      take();
    end_row();
    return std::move(rows_);
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
      if (!comma_allowed_)
        throw UsageError(formatted("{}: ',' without a number before it", here()));
      comma_allowed_ = false;
      text_.remove_prefix(1);
    } else if (c == ' ' || c == '\t' || c == '\r') {
      text_.remove_prefix(1);
    } else {
      take_number();
    }
  }

  void take_number() {
    row_.last = text_.substr(0, text_.find_first_of(row_word_ends));
    text_.remove_prefix(row_.last.size());
    const bool is_single = precision_ == Precision::single_precision;
    row_.numbers.push_back(is_single ? parse_float(here(), row_.last)
                                     : parse_number(here(), row_.last));
    comma_allowed_ = true;
  }

  void end_row() {
    const int line = row_.line;
    if (!row_.numbers.empty()) rows_.push_back(std::move(row_));
    row_ = NumberRow{line, {}, {}};
    comma_allowed_ = false;
  }

  [[nodiscard]] std::string here() const { return place_.of_row(rows_.size(), row_.line); }

  std::string_view text_;  // the text that remains to be read
  const RowsPlace& place_;
  Precision precision_;
  std::vector<NumberRow> rows_;
  NumberRow row_;
  bool comma_allowed_ = false;
};

}  // namespace

std::string RowsPlace::of_row(std::size_t index, int line) const {
  return is_file ? formatted("{}:{}", name, line) : formatted("{}: row {}", name, index + 1);
}

std::vector<NumberRow> parse_number_rows(std::string_view text, const RowsPlace& place,
                                         Precision precision) {
  return RowsParser(text, place, precision).parse();
}

std::string read_small_text(const std::string& path, const std::string& what) {
  std::string text = read_stage_bytes(path, largest_file);
  if (text.find('\0') != std::string::npos)
    throw UsageError(formatted("{}: is not a text file with {}", path, what));
  remove_byte_order_mark(text);
  return text;
}

}  // namespace gpufilter

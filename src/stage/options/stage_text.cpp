#include "stage/options/stage_text.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"

namespace gpufilter {

namespace {

std::string_view without_plus(std::string_view text) {
  return text.substr(text.starts_with('+') ? 1 : 0);
}

// Whether a number without a sign that is out of range is too large rather than too small.
bool is_large(std::string_view digits) {
  const std::size_t exponent_at = std::min(digits.find_first_of("eE"), digits.size());
  const std::string_view mantissa = digits.substr(0, exponent_at);
  const auto point = static_cast<long long>(std::min(mantissa.find('.'), mantissa.size()));
  const auto leading = static_cast<long long>(mantissa.find_first_not_of("0."));
  long long exponent = 0;
  if (exponent_at < digits.size()) {
    const std::string_view text = without_plus(digits.substr(exponent_at + 1));
    const auto result = std::from_chars(text.data(), text.data() + text.size(), exponent);
    // No mantissa that fits in memory could compensate for such an exponent.
    if (result.ec == std::errc::result_out_of_range) return !text.starts_with('-');
  }
  return exponent > leading - point;
}

enum class Form { malformed, too_large, number };

template <typename Number>
struct Reading {
  Form form = Form::malformed;
  Number value = 0;
};

template <typename Number>
Reading<Number> read(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative || text.starts_with('+') ? 1 : 0);
  // from_chars() takes a minus sign, "nan" and "inf" too.
  if (digits.empty() || std::string_view(".0123456789").find(digits[0]) == std::string_view::npos) {
    return {};
  }
  Number value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc::invalid_argument || stopped != end) return {};
  if (error == std::errc::result_out_of_range) {
    if (is_large(digits)) return {Form::too_large};
    value = 0;  // libraries differ in the value that they leave
  }
  return {Form::number, negative ? -value : value};
}

template <typename Number>
Number parse(std::string_view what, std::string_view text, const char* limit) {
  constexpr std::size_t longest = 32;  // of a number that is quoted
  const Reading<Number> reading = read<Number>(text);
  if (reading.form == Form::number) return reading.value;
  const std::string quoted = shown(text, longest);
  if (reading.form == Form::malformed) {
    throw UsageError(formatted("{}: '{}' is not a number{}", what, quoted, point_advice(text)));
  }
  throw UsageError(formatted("{}: '{}' is too large: {}", what, quoted, limit));
}

}  // namespace

bool is_number(std::string_view text) {
  return read<double>(text).form != Form::malformed;
}

std::optional<double> to_number(std::string_view text) {
  const Reading<double> reading = read<double>(text);
  if (reading.form != Form::number) return std::nullopt;
  return reading.value;
}

std::string point_advice(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || text.size() > 32) return "";
  std::string with_point(text);
  with_point[comma] = '.';
  return is_number(with_point) ? formatted("; did you mean {}?", with_point) : "";
}

double parse_number(std::string_view what, std::string_view text) {
  return parse<double>(what, text, "double precision ends at 1.8e308");
}

float parse_float(std::string_view what, std::string_view text) {
  return parse<float>(what, text, "single precision ends at 3.4e38");
}

namespace {

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

}  // namespace gpufilter

#include "stages/colour/color_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "stage/options/matrix_text.hpp"
#include "stage/options/number.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t alpha = 3;

// The channel that each row picks: one weight of 1, nothing else. Nothing if a row computes.
std::optional<std::array<std::size_t, 4>> picked_channels(const ColorMatrix& matrix) {
  std::array<std::size_t, 4> picked{};
  for (std::size_t row = 0; row < 4; ++row) {
    const auto& weights = matrix.weights[row];
    const auto one = std::find(weights.begin(), weights.end(), 1.0F);
    const auto zeros = std::count(weights.begin(), weights.end(), 0.0F);
    if (one == weights.end() || zeros != 3 || matrix.bias[row] != 0) return std::nullopt;
    picked[row] = static_cast<std::size_t>(one - weights.begin());
  }
  return picked;
}

// A matrix applied to picked channels: each weight moves to the channel that was picked for it.
// Nothing if the terms of a row would then be added in a different order, or two become one.
std::optional<ColorMatrix> applied_to_picked(const std::array<std::size_t, 4>& picked,
                                             const ColorMatrix& matrix) {
  ColorMatrix result = matrix;
  for (std::size_t row = 0; row < 4; ++row) {
    result.weights[row] = {};
    std::size_t first_free = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const float weight = matrix.weights[row][k];
      if (weight == 0) continue;
      if (picked[k] < first_free) return std::nullopt;
      result.weights[row][picked[k]] = weight;
      first_free = picked[k] + 1;
    }
  }
  return result;
}

}  // namespace

bool ColorMatrix::keeps_alpha() const {
  return weights[alpha] == std::array<float, 4>{0, 0, 0, 1} && bias[alpha] == 0;
}

bool ColorMatrix::colors_read_alpha() const {
  return std::any_of(weights.begin(), weights.begin() + alpha,
                     [](const auto& row) { return row[alpha] != 0; });
}

bool ColorMatrix::is_identity() const {
  return *this == ColorMatrix{};
}

ColorMatrix to_matrix(const MatrixRows& rows) {
  ColorMatrix matrix;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      matrix.weights[row][k] = static_cast<float>(rows[row][k]);
    }
    if (rows[row].size() > rows.size()) matrix.bias[row] = rows[row].back();
  }
  return matrix;
}

PixelFormat color_output(const ColorMatrix& matrix, const PixelFormat& input) {
  const bool has_alpha = input.has_alpha() || !matrix.keeps_alpha();
  return {has_alpha ? 4 : 3, input.depth};
}

ColorCoefficients color_coefficients(const ColorMatrix& matrix, const PixelFormat& pixel) {
  ColorCoefficients coefficients{};
  for (std::size_t row = 0; row < 4; ++row) {
    std::copy(matrix.weights[row].begin(), matrix.weights[row].end(),
              coefficients.begin() + static_cast<std::ptrdiff_t>(5 * row));
    coefficients[5 * row + 4] = static_cast<float>(matrix.bias[row] * pixel.max_sample());
  }
  return coefficients;
}

std::optional<ColorMatrix> merged(const ColorMatrix& first, const ColorMatrix& second) {
  if (const auto picked = picked_channels(second)) {
    ColorMatrix result;
    for (std::size_t row = 0; row < 4; ++row) {
      result.weights[row] = first.weights[(*picked)[row]];
      result.bias[row] = first.bias[(*picked)[row]];
    }
    return result;
  }
  if (const auto picked = picked_channels(first)) return applied_to_picked(*picked, second);
  return std::nullopt;
}

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

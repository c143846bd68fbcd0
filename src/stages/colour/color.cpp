#include "stages/colour/color.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "stage/device/pixel_function.hpp"
#include "stage/options/catalogue.hpp"
#include "stage/options/stage_text.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t alpha = 3;

// The channel that each row copies, by a single weight of 1; nothing if a row computes.
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

  // Names the line in messages about the whole matrix.
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

namespace {

constexpr int alpha_row = 3;

// The bias, then fused multiply-adds with red, green, blue, alpha in this order. A weight of 0
// changes no bit of a sum, so its term may be omitted.
std::string sum_text(const ColorCoefficients& coefficients, int row) {
  const auto at = [&](int column) {
    return coefficients[std::size_t{5} * static_cast<std::size_t>(row) +
                        static_cast<std::size_t>(column)];
  };
  std::string text = float_literal(at(4));
  for (int k = 0; k < 4; ++k) {
    if (at(k) != 0) text = formatted("fma({}, c{}, {})", float_literal(at(k)), k, text);
  }
  return text;
}

// The body of a PixelFunction for pixels of `source`.
std::string color_source(const ColorMatrix& matrix, const PixelFormat& source) {
  const ColorCoefficients coefficients = color_coefficients(matrix, source);
  const PixelFormat target = color_output(matrix, source);
  const bool reads_alpha = matrix.colors_read_alpha() || !matrix.keeps_alpha();
  std::string text;
  for (int c = 0; c < (reads_alpha ? 4 : 3); ++c)
    text += formatted("    const float c{} = {};\n", c, color_expression(source, c));
  for (int row = 0; row < target.channels; ++row) {
    const bool kept = row == alpha_row && matrix.keeps_alpha();
    text += "    " +
            (kept ? copy_alpha(source, row)
                  : formatted("SET_NUMBER(out[i], {}, {});\n", row, sum_text(coefficients, row)));
  }
  return for_each_pixel(text);
}

class ColorStage final : public OneStepStage {
 public:
  ColorStage(const ColorMatrix& matrix, std::string label, std::string name)
      : matrix_(matrix), label_(std::move(label)), name_(std::move(name)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {{formatted("color {}x{}", input.channels, input.depth), 3e-9, 30e-12}, 1};
  }
  [[nodiscard]] std::string key() const override {
    std::string text = "color";
    for (const auto& row : matrix_.weights)
      text += formatted(" {:a}", fmt::join(row, " "));
    return text + formatted(" {:a}", fmt::join(matrix_.bias, " "));
  }

  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    return {input.size, color_output(matrix_, input.format)};
  }

  [[nodiscard]] std::shared_ptr<const Step> merged_with(const Step& next) const override {
    const auto* color = dynamic_cast<const ColorStage*>(&next);
    if (color == nullptr) return nullptr;
    const auto matrix = merged(matrix_, color->matrix_);
    if (!matrix) return nullptr;
    return std::make_shared<ColorStage>(*matrix, label_ + "+" + color->label_, "color");
  }

  [[nodiscard]] StepProperties properties(const StepPlace& at) const override {
    return {.changes_nothing = matrix_.is_identity() && output(at.source) == at.source};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    color_rows(source, target, matrix_);
  }

  [[nodiscard]] std::optional<PixelFunction> pixel_function(
      const PixelFormat& input, const DeviceInfo& /*device*/) const override {
    return PixelFunction{.body = color_source(matrix_, input)};
  }

 private:
  ColorMatrix matrix_;
  std::string label_;
  std::string name_;
};

// A value that is neither a preset nor a matrix nor the name of a file.
[[noreturn]] void refuse_unknown(const std::string& value) {
  const auto near = color_presets_like(value);
  const std::string name = printable(value);
  throw UsageError(
      near.empty()
          ? formatted("--color {}: neither a preset (--list-presets shows them) nor a file", name)
          : formatted("--color {}: neither a preset nor a file; did you mean {}?", name,
                      enumerated(near, "or")));
}

std::shared_ptr<const Stage> color_from_options(const OptionValues& values) {
  const std::string& value = values.text("--color");
  if (const auto rows = find_color_preset(value)) return make_color(to_matrix(*rows), value);
  if (is_matrix_text(value)) return make_color(parse_color_matrix(value, ""), "matrix");
  if (!exists(value)) refuse_unknown(value);
  return make_color(read_color_matrix(value), std::filesystem::path(value).filename());
}

}  // namespace

std::shared_ptr<const Stage> make_color(const ColorMatrix& matrix, std::string label,
                                        std::string name) {
  return std::make_shared<ColorStage>(matrix, std::move(label), std::move(name));
}

StageKind color_stage_kind() {
  return {.option = "--color",
          .type = FreeText{"PRESET[=AMOUNT]|FILE|MATRIX",
                           {{"PRESET[=AMOUNT]",
                             "a matrix with a name, such as sepia, saturate=1.5 or hue=90"},
                            {"FILE",
                             "a text file with the matrix, a row on each line; ./sepia is a file "
                             "with the name of a preset"},
                            {"MATRIX", "the matrix itself, written out: \"a b c; d e f; g h i\""}},
                           color_preset_words()},
          .help =
              "Multiply colours by a matrix. It has 3x3, 3x4, 4x4 or 4x5 numbers: a row for each "
              "of red, green, blue (and alpha) of the result, a column of weights for each of the "
              "input, and a last column that is added, as a fraction of the largest sample.",
          .listings = {{"--list-presets",
                        "Print the presets of --color. Each has its range, matrix and source.",
                        color_preset_list}},
          .formula =
              "sum = added * max\n"
              "sum = fma(weight[k], x[k], sum) for k = red, green, blue, alpha\n"
              "out = sum, rounded half to even and limited to 0..max\n"
              "x are the samples as stored, max is 255 or 65535; single precision.",
          .edges = "None: a pixel depends on no other pixel.",
          .alpha =
              "A matrix of three rows does not change alpha, a fourth row computes it. With a "
              "weight for alpha, alpha contributes to the colours. Grey pictures become RGB.",
          .examples = {"in.jpg out.jpg --color sepia=0.6",
                       "in.png out.png --color \"0 0 1; 0 1 0; 1 0 0\""},
          .sample_values = {"sepia", "0.9 0.1 0; -0.2 1.3 0; 0 0.4 0.6",
                            "1 0.25 0 -0.1; 0 0.5 0.5 0.2; 0.3 0 0.7 0",
                            "1 0 0 0.2; 0 1 0 -0.3; 0 0 1 0.1; 0.1 0.1 0.1 0.6",
                            "0.8 0.1 0 0.1 0.05; 0 0.9 0 0 0; 0 0.2 0.7 0 -0.1; 0 0 0.3 0.5 0.2"},
          .from_options = color_from_options};
}

namespace {

std::shared_ptr<const Stage> make_hue(double degrees) {
  const auto rows = find_color_preset(formatted("hue={}", degrees));
  return make_color(to_matrix(rows.value()), formatted("{} degrees", degrees), "hue");
}

}  // namespace

StageKind hue_stage_kind() {
  return {
      .option = "--hue",
      .type = NumberIn{-360, 360},
      .help =
          "Rotate the hue of every colour. 120 makes red green, green blue and blue red. The "
          "brightness stays about the same. It is --color hue=DEGREES.",
      .formula =
          "The matrix of the preset hue, which 'gpufilter --list-presets' prints, applied as "
          "--color does.",
      .edges = "None: a pixel depends on no other pixel.",
      .alpha = "Does not change and has no influence. Grey pictures become RGB.",
      .examples = {"in.jpg out.jpg --hue 30"},
      .sample_values = {"90", "-30"},
      .from_options = [](const OptionValues& values) { return make_hue(values.number("--hue")); }};
}

}  // namespace gpufilter

#include "stages/colour/color.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "stage/device/pixel_function.hpp"
#include "stages/colour/color_matrix.hpp"
#include "stages/colour/color_presets.hpp"
#include "stages/colour/color_rows.hpp"

namespace gpufilter {
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
  std::string text = "#pragma unroll\n  for (int i = 0; i < PIXELS; ++i) {\n";
  for (int c = 0; c < (reads_alpha ? 4 : 3); ++c)
    text += formatted("    const float c{} = {};\n", c, color_expression(source, c));
  for (int row = 0; row < target.channels; ++row) {
    const bool kept = row == alpha_row && matrix.keeps_alpha();
    text += "    " +
            (kept ? copy_alpha(source, row)
                  : formatted("SET_NUMBER(out[i], {}, {});\n", row, sum_text(coefficients, row)));
  }
  return text + "  }\n";
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
  std::error_code ignored;
  if (!std::filesystem::exists(value, ignored)) refuse_unknown(value);
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

}  // namespace gpufilter

// --pixel: computes each pixel by an expression.
#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "device/device_rows.hpp"
#include "stage/device/pixel_function.hpp"
#include "stage/options/catalogue.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/expression/pixel.hpp"
#include "stages/expression/program.hpp"

namespace gpufilter {
namespace {

using std::size_t;

std::string value_name(int operation) {
  return formatted("v{}", operation);
}

// A sample of the source as a number.
std::string sample_text(PixelOperator what, const PixelFormat& source) {
  if (what != PixelOperator::gray) return color_expression(source, static_cast<int>(what));
  return source.color_channels() == 1
             ? color_expression(source, 0)
             : "from_sample(LUMA_BT709(SAMPLE(in[i], 0), SAMPLE(in[i], 1), SAMPLE(in[i], 2)))";
}

std::string operation_text(const PixelProgram& program, const PixelOperation& operation) {
  std::array<std::string, 4> from;
  for (size_t k = 0; k < operand_count(operation.what); ++k)
    from[k] = value_name(operation.from[k]);
  const auto& [a, b, c, d] = from;
  const auto selected = [&](const char* comparison) {
    return formatted("{} {} {} ? {} : {}", a, comparison, b, c, d);
  };
  // The macros suit numbers, but not NaN.
  const auto extreme = [&](const char* macro, const std::string& x, const std::string& y) {
    return program.source.is_float() ? formatted("{} < {} ? {} : {}", a, b, x, y)
                                     : formatted("{}({}, {})", macro, a, b);
  };
  switch (operation.what) {
    using enum PixelOperator;
    case number:
      return float_literal(operation.number);
    case add:
      return a + " + " + b;
    case subtract:
      return a + " - " + b;
    case multiply:
      return a + " * " + b;
    case minimum:
      return extreme("LOWER", a, b);
    case maximum:
      return extreme("HIGHER", b, a);
    case multiply_add:
      return formatted("fma({}, {}, {})", a, b, c);
    case select_less:
      return selected("<");
    case select_less_equal:
      return selected("<=");
    case select_equal:
      return selected("==");
    case look_up:
      return formatted("table[{0} + nearest_place({1} * {2}, {2})]", operation.entries, a,
                       float_literal(operation.number));
    default:
      break;
  }
  const std::string sample = sample_text(operation.what, program.source);
  if (program.source.is_float()) return sample;
  return formatted("{} * {}", sample,
                   float_literal(1 / static_cast<float>(program.source.max_sample())));
}

// Makes channel `target` of the result what the operation gives.
std::string result_text(const PixelProgram& program, int target, int result) {
  if (program.source.is_float())
    return formatted("    SET_NUMBER(out[i], {}, {});\n", target, value_name(result));
  const PixelOperator what = program.operations[static_cast<size_t>(result)].what;
  const PixelFormat& source = program.source;
  const int channel = what == PixelOperator::alpha
                          ? source.channels - 1
                          : std::min(static_cast<int>(what), source.color_channels() - 1);
  if (what < PixelOperator::alpha || (what == PixelOperator::alpha && source.has_alpha()))
    return formatted("    COPY_SAMPLE(out[i], {}, in[i], {});\n", target, channel);
  return formatted("    SET_NUMBER(out[i], {}, {} * MAX_SAMPLE);\n", target, value_name(result));
}

PixelFunction function_of(const PixelProgram& program) {
  std::string text;
  for (size_t i = 0; i < program.operations.size(); ++i)
    text += formatted("    const float {} = {};\n", value_name(static_cast<int>(i)),
                      operation_text(program, program.operations[i]));
  for (int c = 0; c < program.target.color_channels(); ++c)
    text += result_text(program, c, program.results.at(static_cast<size_t>(c)));
  if (program.target.has_alpha()) {
    const int last = program.target.channels - 1;
    text += program.results[3] >= 0 ? result_text(program, last, program.results[3])
                                    : "    " + copy_alpha(program.source, last);
  }
  return {.body = for_each_pixel(text),
          .table_entry = program.table.empty() ? "" : "float",
          .table = to_bytes(program.table),
          .operations = static_cast<double>(program.operations.size())};
}

class PixelStage final : public OneStepStage {
 public:
  PixelStage(std::string name, std::string label, std::string text)
      : name_(std::move(name)), label_(std::move(label)), text_(std::move(text)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] std::string key() const override { return "pixel " + text_; }
  [[nodiscard]] StageTraits traits() const override { return {.takes_floats = true}; }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    return {input.size, program(input.format).target};
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    const auto operations = static_cast<double>(program(input).operations.size());
    return {
        {formatted("expression {}", input.depth), 0.05e-9, 0.5e-12}, 8 + operations, operations};
  }
  [[nodiscard]] StepProperties properties(const StepPlace& at) const override {
    const PixelProgram& own = program(at.source.format);
    return {.changes_nothing = own.changes_nothing(), .runs_in_place = own.source == own.target};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    run_pixel_program(source, target, program(source.format));
  }

  [[nodiscard]] std::optional<PixelFunction> pixel_function(
      const PixelFormat& input, const DeviceInfo& /*device*/) const override {
    return function_of(program(input));
  }

 private:
  // Parsed at its first use for a format; thread-safe.
  [[nodiscard]] const PixelProgram& program(const PixelFormat& format) const {
    const int kind = format.is_float() ? 2 : format.depth == 16 ? 1 : 0;
    Slot& slot = slots_.at(static_cast<size_t>(format.channels - 1 + 4 * kind));
    std::call_once(slot.made, [&] {
      slot.program = parse_pixel_program(text_, {.source = format, .place = name()});
    });
    return slot.program;
  }

  struct Slot {
    std::once_flag made;
    PixelProgram program;
  };
  std::string name_;
  std::string label_;
  std::string text_;
  mutable std::array<Slot, 12> slots_;
};

// A value that assigns nothing, or begins like a path, names a file.
bool is_expression(const std::string& value) {
  const bool is_path =
      value.starts_with("./") || value.starts_with("../") || value.starts_with('/');
  return !is_path && value.find('=') != std::string::npos;
}

std::shared_ptr<const Stage> pixel_from_options(const OptionValues& values) {
  const std::string& value = values.text("--pixel");
  const bool is_file = !is_expression(value);
  if (is_file && !exists(value)) {
    throw UsageError(
        formatted("--pixel {}: neither an expression, which has a '=', nor a file; "
                  "write NAME = VALUE",
                  printable(value)));
  }
  const std::string text = is_file ? read_small_text(value, "an expression") : value;
  constexpr PixelFormat any{4, 8};  // for the text's errors, which do not depend on it
  static_cast<void>(parse_pixel_program(
      text, {.source = any, .place = is_file ? value : "--pixel", .is_file = is_file}));
  constexpr size_t most_shown = 20;
  return make_pixel(
      "pixel", is_file ? std::filesystem::path(value).filename().string() : shown(text, most_shown),
      text);
}

}  // namespace

std::shared_ptr<const OneStepStage> make_pixel(std::string name, std::string label,
                                               std::string text) {
  return std::make_shared<PixelStage>(std::move(name), std::move(label), std::move(text));
}

StageKind pixel_stage_kind() {
  return {
      .option = "--pixel",
      .type = FreeText{"EXPRESSION|FILE",
                       {{"EXPRESSION",
                         "assignments with ';' between them: \"r = 1.1*r - 0.05*g; b = 0.9*b\""},
                        {"FILE", "a text file with them"}}},
      .help =
          "Compute pixels by an expression. r, g, b, a and gray are the pixel's samples from 0 to "
          "1; rgb = ... computes each colour; other names hold values. There are + - * / min max "
          "clamp fma select luma curve and table.",
      .formula =
          "x = sample * (1 / max), the factor rounded once\n"
          "out = x * max, rounded half to even and limited to 0..max\n"
          "max is 255 or 65535; of floats it is 1, and nothing is rounded or limited. Every "
          "operation is rounded once to single precision, in the order "
          "of the text; operations of numbers alone are done before, in double precision.",
      .edges = "None: a pixel depends on no other pixel.",
      .alpha =
          "a is alpha, white (1) if there is none. It does not change unless assigned to, and has "
          "no influence unless used.",
      .examples = {"in.jpg out.jpg --pixel \"r = 1.1*r - 0.05*g; b = curve(b, 0 0.1 0.5 0.6 1 1)\"",
                   "in.jpg out.jpg --pixel \"rgb = select(gray < 0.5, 0.8*rgb, rgb)\""},
      .sample_values = {"r = 1.1*r - 0.05*g; b = curve(b, 0 0.1 0.5 0.6 1 1)",
                        "y = luma(r, g, b); rgb = fma(1.3, rgb - y, y); a = clamp(a, 0.2, 0.7)",
                        "gray = table(min(gray, a), 0 0.2 0.7 1)",
                        "rgb = select(gray <= 0.5, max(rgb, 0.1), select(rgb == 1, 0, 1 - rgb))"},
      .from_options = pixel_from_options};
}

}  // namespace gpufilter

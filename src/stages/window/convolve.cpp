#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "device/device_rows.hpp"
#include "stage/device/row_pass.hpp"
#include "stage/options/shared_parameters.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/window/window_stages.hpp"

namespace gpufilter {
namespace {

// Limits for whole numbers, so that every sum fits 64 bits: for the sum of the coefficients'
// magnitudes, for the scale, and, weighted by alpha, for the product of that sum and the gain.
constexpr double max_sum = 1 << 20;
constexpr double max_scale = 1 << 20;
constexpr std::int64_t max_product = std::int64_t{1} << 29U;

bool is_whole(double number) {
  return number == std::floor(number);
}

double sum_of(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

double magnitude_of(const ConvolutionMatrix& matrix) {
  return std::accumulate(matrix.coefficients.begin(), matrix.coefficients.end(), 0.0,
                         [](double sum, double number) { return sum + std::abs(number); });
}

double offset_in_samples(const ConvolutionMatrix& matrix, const PixelFormat& format) {
  // nearbyint rounds half to even, since the rounding mode is never changed.
  return matrix.offset_in_percent ? std::nearbyint(matrix.offset * format.max_sample() / 100)
                                  : matrix.offset;
}

// Whether the matrix is the same however it is turned and mirrored.
bool is_symmetric(const ConvolutionMatrix& matrix) {
  if (matrix.width != matrix.height) return false;
  const auto at = [&](int x, int y) {
    return matrix.coefficients[static_cast<std::size_t>(y * matrix.width + x)];
  };
  for (int y = 0; y < matrix.height; ++y) {
    for (int x = 0; x < matrix.width; ++x) {
      if (at(x, y) != at(y, x) || at(x, y) != at(matrix.width - 1 - x, y)) return false;
    }
  }
  return true;
}

bool is_exact(const ConvolutionMatrix& matrix) {
  return std::all_of(matrix.coefficients.begin(), matrix.coefficients.end(), is_whole) &&
         is_whole(matrix.scale) && (matrix.offset_in_percent || is_whole(matrix.offset));
}

// "3x3, whole numbers by 16".
std::string to_string(const ConvolutionMatrix& matrix) {
  return formatted("{}x{}, {} by {}", matrix.width, matrix.height,
                   is_exact(matrix) ? "whole numbers" : "decimals", matrix.scale);
}

void check(const ConvolveParameters& parameters) {
  const ConvolutionMatrix& matrix = parameters.matrix;
  const double magnitude = magnitude_of(matrix);
  if (magnitude / matrix.scale > max_sum) {
    throw UsageError(
        formatted("--convolve: the absolute values of the coefficients, divided by the scale of "
                  "{}, add up to more than {:.0f}; use a larger --scale",
                  matrix.scale, max_sum));
  }
  if (!is_exact(matrix)) return;
  if (magnitude > max_sum || matrix.scale > max_scale) {
    throw UsageError(
        formatted("--convolve: these whole numbers are too large to be summed exactly; divide them "
                  "and --scale ({}) by a common factor",
                  matrix.scale));
  }
  const double sum = sum_of(matrix.coefficients);
  if (parameters.alpha == AlphaMode::independent || sum <= 0) return;
  const auto whole = static_cast<std::int64_t>(sum);
  const std::int64_t gain = whole / std::gcd(whole, static_cast<std::int64_t>(matrix.scale));
  if (static_cast<std::int64_t>(magnitude) * gain <= max_product) return;
  throw UsageError(
      formatted("--convolve: these whole numbers are too large to be weighted by alpha exactly; "
                "use --alpha independent, or divide them and --scale ({}) by a common factor",
                matrix.scale));
}

class Convolve final : public OneStepStage {
 public:
  explicit Convolve(ConvolveParameters parameters)
      : parameters_(std::move(parameters)),
        of_bytes_(convolution_numbers(parameters_.matrix, {1, 8})),
        of_words_(convolution_numbers(parameters_.matrix, {1, 16})) {}

  [[nodiscard]] std::string name() const override { return "convolve"; }
  [[nodiscard]] std::string label() const override { return to_string(parameters_.matrix); }
  [[nodiscard]] std::string key() const override {
    const ConvolutionMatrix& matrix = parameters_.matrix;
    return formatted("convolve {}x{} {:a} by {:a} plus {:a}{} {} {}", matrix.width, matrix.height,
                     fmt::join(matrix.coefficients, " "), matrix.scale, matrix.offset,
                     matrix.offset_in_percent ? "%" : "", static_cast<int>(parameters_.border),
                     static_cast<int>(parameters_.alpha));
  }
  [[nodiscard]] StageTraits traits() const override {
    return {.has_up = !is_symmetric(parameters_.matrix)};
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return border_rows(parameters_.border, target, parameters_.matrix.radius_y(), source.height);
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    const Rate rate = weighs(input)        ? Rate("convolve weighted", 0.5e-9, 10e-12)
                      : is_of_bytes(input) ? Rate("convolve bytes", 0.1e-9, 0.05e-12)
                                           : Rate("convolve", 0.1e-9, 5e-12);
    return {rate, static_cast<double>(parameters_.matrix.coefficients.size()) * input.channels};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    convolve_rows(source, target, sizes.source.height, parameters_, numbers(source.format));
  }

  [[nodiscard]] std::optional<WindowKernel> window_kernel(const PixelFormat& input,
                                                          const DeviceInfo& device,
                                                          const WindowUse& /*use*/) const override {
    const ConvolutionNumbers& of_format = numbers(input);
    if (is_of_bytes(input)) return kernel_of_bytes(device);
    RowKernel kernel{.file = "convolve.cl", .function = "convolve"};
    kernel.macros = formatted(
        "-D BORDER={} -D ALPHA_WEIGHTED={} -D EXACT={} -D WIDE={} -D INVERSE_MAX={:a}f",
        static_cast<int>(parameters_.border), weighs(input) ? 1 : 0, of_format.exact ? 1 : 0,
        of_format.largest > INT32_MAX ? 1 : 0, 1.0F / static_cast<float>(input.max_sample()));
    kernel.pixels = 1;
    kernel.tables = {constants_of(of_format), weights_of(of_format)};
    kernel.variant = label();
    return WindowKernel{std::move(kernel),
                        static_cast<double>(parameters_.matrix.coefficients.size())};
  }

 private:
  [[nodiscard]] bool weighs(const PixelFormat& format) const {
    return parameters_.alpha == AlphaMode::weighted && format.has_alpha();
  }
  [[nodiscard]] const ConvolutionNumbers& numbers(const PixelFormat& format) const {
    return format.depth == 8 ? of_bytes_ : of_words_;
  }

  // Whether devices sum bytes times whole numbers, in 32 bits.
  [[nodiscard]] bool is_of_bytes(const PixelFormat& input) const {
    return input.depth == 8 && of_bytes_.exact && of_bytes_.largest <= INT32_MAX && !weighs(input);
  }

  // The coefficients are literals of the program, which omits products with zeros.
  [[nodiscard]] WindowKernel kernel_of_bytes(const DeviceInfo& device) const {
    const ConvolutionMatrix& matrix = parameters_.matrix;
    RowKernel kernel{.file = "convolve_bytes.cl", .function = "convolve_bytes"};
    kernel.macros = formatted(
        "-D BORDER={} -D RADIUS_X={} -D RADIUS_Y={} -D SCALE={} -D OFFSET={} -D DIGITS={}{}",
        static_cast<int>(parameters_.border), matrix.width / 2, matrix.height / 2, of_bytes_.scale,
        of_bytes_.offset, digits(), byte_product_macros(device));
    kernel.generated = weights_text();
    // Rows that share what they read, up to which programs do not take too long to compile.
    kernel.lines = matrix.height == 1 ? 1 : matrix.height <= 7 ? 4 : 2;
    kernel.group_width = 32;
    kernel.group_height = 4;
    kernel.variant = label();
    return {std::move(kernel), 2};
  }

  // A coefficient is a sum of signed bytes, each times a power of 256.
  [[nodiscard]] int digits() const {
    int count = 1;
    for (std::int32_t number : of_bytes_.whole) {
      for (int more = 1; number != static_cast<std::int8_t>(number); ++more) {
        number = (number - static_cast<std::int8_t>(number)) / 256;
        count = std::max(count, more + 1);
      }
    }
    return count;
  }
  // The weights as kernels/window/convolve_bytes.cl reads them: for each of four columns, those of
  // the words around a run of pixels.
  [[nodiscard]] std::string weights_text() const {
    const ConvolutionMatrix& matrix = parameters_.matrix;
    const int margin = (matrix.width / 2 + 3) / 4 * 4;
    std::vector<std::string> words;
    for (int digit = digits() - 1; digit >= 0; --digit) {
      for (int row = 0; row < matrix.height; ++row) {
        for (int i = 0; i < 4; ++i) {
          std::vector<std::uint8_t> bytes(static_cast<std::size_t>(2 * margin + 4));
          for (int column = 0; column < matrix.width; ++column) {
            std::int32_t number =
                of_bytes_.whole[static_cast<std::size_t>(row * matrix.width + column)];
            for (int k = 0; k < digit; ++k)
              number = (number - static_cast<std::int8_t>(number)) / 256;
            bytes[static_cast<std::size_t>(margin - matrix.width / 2 + i + column)] =
                static_cast<std::uint8_t>(number);
          }
          for (std::size_t k = 0; k < bytes.size(); k += 4)
            words.push_back(formatted("0x{:02x}{:02x}{:02x}{:02x}", bytes[k + 3], bytes[k + 2],
                                      bytes[k + 1], bytes[k]));
        }
      }
    }
    return formatted("__constant uint weights[] = {{{}}};\n", fmt::join(words, ", "));
  }

  // The layout of convolution_t in kernels/window/convolve.cl.
  [[nodiscard]] std::vector<std::uint8_t> constants_of(const ConvolutionNumbers& of) const {
    const auto bits = [](float number) {
      return static_cast<std::int64_t>(std::bit_cast<std::int32_t>(number));
    };
    const std::vector<std::int64_t> all{parameters_.matrix.width,
                                        parameters_.matrix.height,
                                        of.averages ? 1 : 0,
                                        of.sum,
                                        of.scale,
                                        of.offset,
                                        of.gain,
                                        of.divisor,
                                        bits(of.decimal_offset),
                                        bits(of.decimal_gain),
                                        bits(of.inverse_gain)};
    return to_bytes(all);
  }
  [[nodiscard]] static std::vector<std::uint8_t> weights_of(const ConvolutionNumbers& of) {
    return of.exact ? to_bytes(of.whole) : to_bytes(of.decimal);
  }

  ConvolveParameters parameters_;
  ConvolutionNumbers of_bytes_;
  ConvolutionNumbers of_words_;
};

// ---- The command line ----

struct GivenMatrix {
  ConvolutionMatrix matrix;
  bool states_scale = false;
};

constexpr std::string_view sides = "each side is odd, from 1 to 15";

// The first line of a file of libvips: width, height and, if they are given, scale and offset.
bool is_vips_header(const std::vector<NumberRow>& rows) {
  const std::vector<double>& first = rows.front().numbers;
  if (first.size() != 2 && first.size() != 4) return false;
  const auto has_width = [&](const NumberRow& row) {
    return static_cast<double>(row.numbers.size()) == first[0];
  };
  return first[1] == static_cast<double>(rows.size() - 1) &&
         std::all_of(rows.begin() + 1, rows.end(), has_width);
}

GivenMatrix to_matrix(std::string_view text, const RowsPlace& place) {
  std::vector<NumberRow> rows = parse_number_rows(text, place);
  if (rows.empty()) throw UsageError(formatted("{}: no number in it; {}", place.name, sides));
  GivenMatrix given;
  if (place.is_file && is_vips_header(rows)) {
    const std::vector<double>& first = rows.front().numbers;
    given.matrix.scale = first.size() == 4 ? first[2] : 1;
    given.matrix.offset = first.size() == 4 ? first[3] : 0;
    given.states_scale = true;
    rows.erase(rows.begin());
  }
  const std::size_t width = rows.front().numbers.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t count = rows[i].numbers.size();
    if (count != width) {
      throw UsageError(formatted("{}: {} numbers, but the first row has {}",
                                 place.of_row(i, rows[i].line), count, width));
    }
    given.matrix.coefficients.insert(given.matrix.coefficients.end(), rows[i].numbers.begin(),
                                     rows[i].numbers.end());
  }
  constexpr auto max = static_cast<std::size_t>(ConvolutionMatrix::max_side);
  if (width % 2 == 0 || rows.size() % 2 == 0 || width > max || rows.size() > max) {
    throw UsageError(formatted("{}: {}x{} numbers; {}", place.name, width, rows.size(), sides));
  }
  given.matrix.width = static_cast<int>(width);
  given.matrix.height = static_cast<int>(rows.size());
  return given;
}

GivenMatrix read_matrix(const std::string& value) {
  if (exists(value)) {
    return to_matrix(read_small_text(value, "a matrix of up to 15x15 numbers"), {value, true});
  }
  const bool has_digit = value.find_first_of("0123456789") != std::string::npos;
  if (!has_digit || value.find_first_not_of("0123456789+-.eE,; \t\r\n") != std::string::npos) {
    throw UsageError(formatted("--convolve {}: neither a matrix nor a file", printable(value)));
  }
  return to_matrix(value, {"--convolve"});
}

void set_scale(ConvolutionMatrix& matrix, const std::string& text, bool is_stated) {
  if (text == "auto") {
    const double sum = sum_of(matrix.coefficients);
    if (!is_stated) matrix.scale = sum > 0 ? sum : 1;
  } else {
    matrix.scale = parse_number("--scale", text);
  }
  if (matrix.scale == 0) throw UsageError("--convolve: the scale is 0, and cannot divide");
  if (matrix.scale > 0) return;
  matrix.scale = -matrix.scale;
  for (double& number : matrix.coefficients)
    number = -number;
}

void set_offset(ConvolutionMatrix& matrix, const std::string& text) {
  constexpr double max_offset = 65535;
  if (text != "auto") {
    matrix.offset_in_percent = text.ends_with('%');
    matrix.offset =
        parse_number("--offset", text.substr(0, text.size() - (matrix.offset_in_percent ? 1 : 0)));
  }
  const double limit = matrix.offset_in_percent ? 100 : max_offset;
  if (std::abs(matrix.offset) > limit) {
    throw UsageError(formatted("--convolve: the offset has to be from -{0} to {0}{1}", limit,
                               matrix.offset_in_percent ? "%" : ""));
  }
}

std::shared_ptr<const Stage> convolve_from_options(const OptionValues& values) {
  GivenMatrix given = read_matrix(values.text("--convolve"));
  set_scale(given.matrix, values.text("--scale"), given.states_scale);
  set_offset(given.matrix, values.text("--offset"));
  return make_convolve({std::move(given.matrix), values.choice<Border>("--border"),
                        values.choice<AlphaMode>("--alpha")});
}

}  // namespace

ConvolutionNumbers convolution_numbers(const ConvolutionMatrix& matrix, const PixelFormat& format) {
  ConvolutionNumbers numbers;
  const double offset = offset_in_samples(matrix, format);
  const double sum = sum_of(matrix.coefficients);
  numbers.averages = sum > 0;
  numbers.exact = is_exact(matrix);
  if (!numbers.exact) {
    for (const double number : matrix.coefficients)
      numbers.decimal.push_back(static_cast<float>(number / matrix.scale));
    numbers.decimal_offset = static_cast<float>(offset);
    numbers.decimal_gain = static_cast<float>(sum / matrix.scale);
    if (numbers.averages) numbers.inverse_gain = static_cast<float>(matrix.scale / sum);
    return numbers;
  }
  for (const double number : matrix.coefficients)
    numbers.whole.push_back(static_cast<std::int32_t>(number));
  numbers.sum = static_cast<std::int64_t>(sum);
  numbers.scale = static_cast<std::int64_t>(matrix.scale);
  numbers.offset = static_cast<std::int64_t>(offset);
  if (numbers.averages) {
    const std::int64_t common = std::gcd(numbers.sum, numbers.scale);
    numbers.gain = numbers.sum / common;
    numbers.divisor = numbers.scale / common;
  }
  numbers.largest = static_cast<std::int64_t>(magnitude_of(matrix)) * format.max_sample() +
                    (std::abs(numbers.offset) + 1) * numbers.scale;
  return numbers;
}

std::shared_ptr<const Stage> make_convolve(const ConvolveParameters& parameters) {
  check(parameters);
  return std::make_shared<Convolve>(parameters);
}

StageKind convolve_stage_kind() {
  return {
      .option = "--convolve",
      .type = FreeText{"MATRIX|FILE",
                       {{"MATRIX", "rows of numbers: \"1 2 1; 2 4 2; 1 2 1\""},
                        {"FILE",
                         "a text file with a row on each line, or a matrix of libvips, whose "
                         "first line is WIDTH HEIGHT SCALE OFFSET"}}},
      .help =
          "Convolve with a matrix. Each sample becomes the sum of itself and its neighbours, each "
          "times a coefficient, divided by a scale. Both sides of the matrix are odd, and up to "
          "15.",
      .parameters = {{.option = "--scale",
                      .type = FreeText{"auto|NUMBER",
                                       {{"auto",
                                         "the file's, otherwise the sum of the coefficients, "
                                         "or 1 if that is not above 0"},
                                        {"NUMBER", "what sums are divided by"}}},
                      .default_value = "auto",
                      .help = "What the sums of --convolve are divided by."},
                     {.option = "--offset",
                      .type = FreeText{"auto|NUMBER|PERCENT%",
                                       {{"auto", "the file's, otherwise 0"},
                                        {"NUMBER", "in samples"},
                                        {"PERCENT%", "of the largest sample"}}},
                      .default_value = "auto",
                      .help = "What is added to colours after the division."},
                     border_parameter(),
                     alpha_parameter()},
      .formula =
          "whole numbers: out = (sum of coefficient * x) / scale, rounded half up, + offset\n"
          "decimals: sum = offset, then sum = fma(coefficient / scale, x, sum) row by row,\n"
          "rounded half to even; single precision\n"
          "Both are limited to 0..max. The first coefficient is that of the top left neighbour.",
      .edges = "--border chooses which pixels lie outside the picture.",
      .alpha =
          "Colours are weighted by alpha, as in --blur, and alpha becomes its mean; if the "
          "coefficients do not add up to more than 0, alpha stays and transparent pixels count "
          "as black. --alpha independent treats every channel by the formula.",
      .examples = {"in.png out.png --convolve \"1 2 1; 2 4 2; 1 2 1\"",
                   "in.png out.png --convolve \"-1 0 1; -2 0 2; -1 0 1\" --offset 50%"},
      .sample_values = {"1 2 1; 2 4 2; 1 2 1", "-1 -1 -1; -1 8 -1; -1 -1 -1", "3 -20 40000 -20 3",
                        "0.1; 0.2; -0.05; 0.25; 0.3", "0.5 0 -0.5"},
      .from_options = convolve_from_options};
}

}  // namespace gpufilter

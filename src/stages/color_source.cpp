#include "stages/color_source.hpp"

#include "base/format.hpp"
#include "stages/pixel_function.hpp"

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

}  // namespace

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

}  // namespace gpufilter

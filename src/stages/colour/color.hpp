// --color: multiplies every pixel by a matrix. The matrix and its properties.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "image/pixel_format.hpp"
#include "image/rows.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

// Rows of numbers as written: 3x3, 3x4 (the last column is added), 4x4 or 4x5.
using MatrixRows = std::vector<std::vector<double>>;

// Every shape as 4x5: a matrix of three rows does not change alpha, one without a last column adds
// nothing. A weight of 0 changes no bit of a result, so the original shape does not matter.
struct ColorMatrix {
  // Rows give red, green, blue, alpha; columns weigh red, green, blue, alpha.
  std::array<std::array<float, 4>, 4> weights{
      {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
  std::array<double, 4> bias{};  // added, as a share of the largest sample

  // Whether alpha does not change.
  [[nodiscard]] bool keeps_alpha() const;
  // Whether a colour depends on alpha.
  [[nodiscard]] bool colors_read_alpha() const;
  // Whether no sample changes.
  [[nodiscard]] bool is_identity() const;

  bool operator==(const ColorMatrix&) const = default;
};

// `rows` has to have one of the shapes above; every number, and the last column times the largest
// sample, has to be finite in single precision.
[[nodiscard]] ColorMatrix to_matrix(const MatrixRows& rows);

// The format of the result: RGB, with alpha if the input has alpha or the matrix makes it.
[[nodiscard]] PixelFormat color_output(const ColorMatrix& matrix, const PixelFormat& input);

// The numbers used in the computation: row by row the weights, then the bias in samples,
// float(bias * max).
using ColorCoefficients = std::array<float, 20>;
[[nodiscard]] ColorCoefficients color_coefficients(const ColorMatrix& matrix,
                                                   const PixelFormat& pixel);

// The single matrix that gives the same bits as `first` and then `second`, for every picture for
// which it gives the same format; nothing if rounding or the order of the additions would differ.
// Such a matrix exists only if one of the two merely picks channels.
[[nodiscard]] std::optional<ColorMatrix> merged(const ColorMatrix& first,
                                                const ColorMatrix& second);

// 3x3, 3x4, 4x4 or 4x5 numbers: a row ends at ';' or at the end of a line, blanks, tabs or a comma
// separate its numbers, '#' begins a comment. Numbers have a decimal point, whatever the locale.
// `file` names the text in messages, with the line; empty: the text of --color itself. Throws
// UsageError.
[[nodiscard]] ColorMatrix parse_color_matrix(std::string_view text, const std::string& file);

// Reads a matrix from a file. Throws UsageError, also if the file cannot be read.
[[nodiscard]] ColorMatrix read_color_matrix(const std::string& path);

// Whether the value of --color is a matrix rather than a name: its first word is a number, or it
// has digits and more than one row. A value that begins like a path ("./", "../", "/") never is.
[[nodiscard]] bool is_matrix_text(std::string_view value);

// x is a pixel's samples as stored, in single precision; grey counts as equal red, green and blue,
// a missing alpha as the maximum. Each sample of the result is one chain of fused multiply-adds
// from the bias on, in the order red, green, blue, alpha; rounded half to even; saturated, NaN to
// 0. `label` is what the timing shows, `name` the option that requests it.
[[nodiscard]] std::shared_ptr<const Stage> make_color(const ColorMatrix& matrix, std::string label,
                                                      std::string name = "color");

// Fills `target`, in color_output()'s format, from the same rows of `source`.
void color_rows(const ConstRows& source, const MutableRows& target, const ColorMatrix& matrix);

// A matrix that has a name.
struct ColorPreset {
  enum class Amount { none, optional, required };

  std::string_view name;
  std::string_view alias;  // empty: none
  Amount amount = Amount::none;
  double low = 0;  // the range of the amount
  double high = 0;
  double shown = 0;       // the default amount; if there is none, the amount shown in the list
  std::string_view unit;  // what may follow the amount: "%" (hundredths) or "deg"
  std::string_view meaning;
  std::string_view source;
  std::function<MatrixRows(double amount)> rows;  // not yet rounded to nine decimals
};

[[nodiscard]] const std::vector<ColorPreset>& color_preset_table();

// The matrix of "sepia", "hue=90" or "saturate=150%"; nothing if the part before '=' is not the
// name of a preset. Throws UsageError if the amount is missing, superfluous, malformed or out of
// range.
//
// Presets are computed in double precision with sums, products and divisions only, and then rounded
// to nine decimals: they are the same on every machine.
[[nodiscard]] std::optional<MatrixRows> find_color_preset(std::string_view value);

// The names most similar to the one in `value`, best first; empty if none is similar.
[[nodiscard]] std::vector<std::string> color_presets_like(std::string_view value);

// A value of --color with the preset `name`: "sepia", "brightness=1.25" if it needs an amount;
// empty if there is no such preset.
[[nodiscard]] std::string color_preset_example(std::string_view name);

// The prefixes of values with a preset: "sepia", "brightness=" if it needs an amount.
[[nodiscard]] std::vector<std::string> color_preset_words();

// The output of --list-presets: each preset with its range, its effect, the source of its numbers
// and its matrix, in the form of a file for --color.
[[nodiscard]] std::string color_preset_list();

}  // namespace gpufilter

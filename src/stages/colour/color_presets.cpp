#include <algorithm>
#include <cmath>

#include "base/elementary.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/colour/color.hpp"

namespace gpufilter {
namespace {

// ---- W3C Filter Effects Module Level 1, https://www.w3.org/TR/filter-effects-1/ ----

// "8.6 feColorMatrix": saturate, hueRotate and luminanceToAlpha; "Shorthands": the functions of
// CSS.
constexpr std::string_view css = "W3C Filter Effects 1, CSS function";
constexpr std::string_view svg = "W3C Filter Effects 1, feColorMatrix";

// The functions of CSS go from the full effect to the identity: full + (identity - full) * rest.
MatrixRows faded(const MatrixRows& full, double amount) {
  MatrixRows rows = full;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t k = 0; k < rows[row].size(); ++k) {
      const double identity = row == k ? 1 : 0;
      rows[row][k] = full[row][k] + (identity - full[row][k]) * (1 - amount);
    }
  }
  return rows;
}

MatrixRows grayscale(double amount) {
  return faded({{0.2126, 0.7152, 0.0722}, {0.2126, 0.7152, 0.0722}, {0.2126, 0.7152, 0.0722}},
               amount);
}

MatrixRows sepia(double amount) {
  return faded({{0.393, 0.769, 0.189}, {0.349, 0.686, 0.168}, {0.272, 0.534, 0.131}}, amount);
}

// A matrix that treats all colours equally: slope * color + intercept.
MatrixRows linear(double slope, double intercept) {
  return {{slope, 0, 0, intercept}, {0, slope, 0, intercept}, {0, 0, slope, intercept}};
}

MatrixRows saturate(double s) {
  return {{0.213 + 0.787 * s, 0.715 - 0.715 * s, 0.072 - 0.072 * s},
          {0.213 - 0.213 * s, 0.715 + 0.285 * s, 0.072 - 0.072 * s},
          {0.213 - 0.213 * s, 0.715 - 0.715 * s, 0.072 + 0.928 * s}};
}

MatrixRows hue(double degrees) {
  const double turn = std::fmod(std::fmod(degrees, 360) + 360, 360);
  const double s = sine_of_degrees(turn);
  const double c = sine_of_degrees(turn < 270 ? turn + 90 : turn - 270);
  return {
      {0.213 + c * 0.787 - s * 0.213, 0.715 - c * 0.715 - s * 0.715, 0.072 - c * 0.072 + s * 0.928},
      {0.213 - c * 0.213 + s * 0.143, 0.715 + c * 0.285 + s * 0.140, 0.072 - c * 0.072 - s * 0.283},
      {0.213 - c * 0.213 - s * 0.787, 0.715 - c * 0.715 + s * 0.715,
       0.072 + c * 0.928 + s * 0.072}};
}

// ---- Video standards ----

MatrixRows grey(double red, double green, double blue) {
  return {{red, green, blue}, {red, green, blue}, {red, green, blue}};
}

// JFIF's Cb and Cr have their zero at 128 of 255.
constexpr double chroma_zero = 128.0 / 255;

MatrixRows from_ycbcr() {
  const double green_cb = 0.114 * 1.772 / 0.587;
  const double green_cr = 0.299 * 1.402 / 0.587;
  return {{1, 0, 1.402, -1.402 * chroma_zero},
          {1, -green_cb, -green_cr, (green_cb + green_cr) * chroma_zero},
          {1, 1.772, 0, -1.772 * chroma_zero}};
}

// ---- Colour vision ----

// G. M. Machado, M. M. Oliveira, L. A. F. Fernandes: A Physiologically-based Model for Simulation
// of Color Vision Deficiency. IEEE Transactions on Visualization and Computer Graphics 15 (2009),
// number 6, pages 1291-1298, doi:10.1109/TVCG.2009.113; the supplementary tables' matrices of
// severity 1.0.
constexpr std::string_view machado = "Machado, Oliveira, Fernandes 2009, doi:10.1109/TVCG.2009.113";

constexpr std::string_view by_definition = "by definition";

// More than enough, and far below the limit of single precision.
constexpr double most = 1e6;

ColorPreset fixed(std::string_view name, std::string_view alias, std::string_view meaning,
                  std::string_view source, const MatrixRows& rows) {
  return {name,    alias,  ColorPreset::Amount::none,      0, 0, 0, "",
          meaning, source, [rows](double) { return rows; }};
}

}  // namespace

const std::vector<ColorPreset>& color_preset_table() {
  using Amount = ColorPreset::Amount;
  static const std::vector<ColorPreset> table{
      {"grayscale", "greyscale", Amount::optional, 0, 1, 1, "%",
       "shades of grey by BT.709's luminance; less than 1: partly", css, grayscale},
      {"sepia", "", Amount::optional, 0, 1, 1, "%", "the brown of old photographs", css, sepia},
      {"invert", "negate", Amount::optional, 0, 1, 1, "%", "the negative; 0.5: all grey", css,
       [](double amount) { return linear(1 - 2 * amount, amount); }},
      {"saturate", "saturation", Amount::required, 0, most, 1.5, "%",
       "stronger colours; 1: as they are, 0: grey", css, saturate},
      {"hue", "hue-rotate", Amount::required, -most, most, 90, "deg", "hues rotated, by degrees",
       css, hue},
      {"brightness", "", Amount::required, 0, most, 1.25, "%",
       "colours multiplied; 1: as they are, 0: black", css,
       [](double amount) { return linear(amount, 0); }},
      {"contrast", "", Amount::required, 0, most, 1.25, "%",
       "colours spread about the middle; 1: as they are, 0: grey", css,
       [](double amount) { return linear(amount, 0.5 - 0.5 * amount); }},
      {"opacity", "", Amount::required, 0, 1, 0.5, "%", "alpha multiplied", css,
       [](double amount) {
         return MatrixRows{{1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}, {0, 0, 0, amount, 0}};
       }},
      fixed("luminance-to-alpha", "luminanceToAlpha", "black, as opaque as it was light", svg,
            {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0.2125, 0.7154, 0.0721, 0, 0}}),
      fixed("rec601", "", "shades of grey by BT.601's luma", "ITU-R BT.601",
            grey(0.299, 0.587, 0.114)),
      fixed("rec2020", "", "shades of grey by BT.2020's luma", "ITU-R BT.2020",
            grey(0.2627, 0.6780, 0.0593)),
      fixed("average", "", "shades of grey, all colours alike", by_definition,
            grey(1.0 / 3, 1.0 / 3, 1.0 / 3)),
      fixed("ycbcr", "", "Y, Cb and Cr instead of red, green and blue", "ITU-T T.871 (JFIF)",
            {{0.299, 0.587, 0.114, 0},
             {-0.299 / 1.772, -0.587 / 1.772, 0.886 / 1.772, chroma_zero},
             {0.701 / 1.402, -0.587 / 1.402, -0.114 / 1.402, chroma_zero}}),
      fixed("from-ycbcr", "", "the inverse of ycbcr", "ITU-T T.871 (JFIF)", from_ycbcr()),
      fixed("swap-rb", "bgr", "red and blue exchanged", by_definition,
            {{0, 0, 1}, {0, 1, 0}, {1, 0, 0}}),
      fixed("red-channel", "", "red, as shades of grey", by_definition, grey(1, 0, 0)),
      fixed("green-channel", "", "green, as shades of grey", by_definition, grey(0, 1, 0)),
      fixed("blue-channel", "", "blue, as shades of grey", by_definition, grey(0, 0, 1)),
      fixed("alpha-channel", "", "alpha, as opaque shades of grey", by_definition,
            {{0, 0, 0, 1, 0}, {0, 0, 0, 1, 0}, {0, 0, 0, 1, 0}, {0, 0, 0, 0, 1}}),
      fixed("opaque", "", "alpha at its maximum everywhere", by_definition,
            {{1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}, {0, 0, 0, 0, 1}}),
      fixed("protanopia", "", "as seen without the cones for long wavelengths (red)", machado,
            {{0.152286, 1.052583, -0.204868},
             {0.114503, 0.786281, 0.099216},
             {-0.003882, -0.048116, 1.051998}}),
      fixed("deuteranopia", "", "as seen without the cones for middle wavelengths (green)", machado,
            {{0.367322, 0.860646, -0.227968},
             {0.280085, 0.672501, 0.047413},
             {-0.011820, 0.042940, 0.968881}}),
      fixed("tritanopia", "", "as seen without the cones for short wavelengths (blue)", machado,
            {{1.255528, -0.076749, -0.178779},
             {-0.078411, 0.930809, 0.147602},
             {0.004733, 0.691367, 0.303900}}),
  };
  return table;
}

namespace {

using Amount = ColorPreset::Amount;

// Rounds to nine decimals, never to -0.
double on_grid(double number) {
  constexpr double steps = 1e9;
  return std::round(number * steps) / steps + 0.0;
}

MatrixRows rows_of(const ColorPreset& preset, double amount) {
  MatrixRows rows = preset.rows(amount);
  for (auto& row : rows)
    std::transform(row.begin(), row.end(), row.begin(), on_grid);
  return rows;
}

std::string_view name_in(std::string_view value) {
  return value.substr(0, value.find('='));
}

const ColorPreset* preset_named(std::string_view name) {
  const auto& table = color_preset_table();
  const auto found = std::find_if(table.begin(), table.end(), [name](const ColorPreset& preset) {
    return preset.name == name || (!preset.alias.empty() && preset.alias == name);
  });
  return found == table.end() ? nullptr : &*found;
}

double parse_amount(const ColorPreset& preset, std::string_view name, std::string_view text) {
  const bool with_unit = text.ends_with(preset.unit);
  const std::string_view digits =
      text.substr(0, text.size() - (with_unit ? preset.unit.size() : 0));
  const double number = parse_number(formatted("--color {}={}", name, text), digits);
  const double amount = with_unit && preset.unit == "%" ? number / 100 : number;
  if (amount < preset.low || amount > preset.high) {
    throw UsageError(formatted("--color {}={}: the amount must be between {} and {}", name, text,
                               preset.low, preset.high));
  }
  return amount;
}

std::string range_of(const ColorPreset& preset) {
  if (preset.amount == Amount::none) return "";
  const std::string range =
      formatted("={}..{}{}", preset.low, preset.high, preset.unit == "deg" ? " degrees" : "");
  return preset.amount == Amount::optional ? formatted("[{}]", range) : range;
}

std::string list_entry(const ColorPreset& preset) {
  std::string text = formatted("# {}{}", preset.name, range_of(preset));
  if (!preset.alias.empty()) text += formatted(", also {}", preset.alias);
  text += formatted("\n#   {}\n#   source: {}\n", preset.meaning, preset.source);
  if (preset.amount != Amount::none)
    text += formatted("#   for {}={}:\n", preset.name, preset.shown);
  for (const auto& row : rows_of(preset, preset.shown)) {
    for (const double number : row)
      text += formatted(" {:>13}", number);
    text += '\n';
  }
  return text;
}

}  // namespace

std::optional<MatrixRows> find_color_preset(std::string_view value) {
  const std::string_view name = name_in(value);
  const ColorPreset* preset = preset_named(name);
  if (preset == nullptr) return std::nullopt;
  const bool has_amount = name.size() < value.size();
  if (has_amount && preset->amount == Amount::none) {
    throw UsageError(formatted("--color {}: {} takes no amount", value, name));
  }
  if (!has_amount && preset->amount == Amount::required) {
    throw UsageError(
        formatted("--color {0}: needs an amount, such as {0}={1}", name, preset->shown));
  }
  const double amount =
      has_amount ? parse_amount(*preset, name, value.substr(name.size() + 1)) : preset->shown;
  return rows_of(*preset, amount);
}

std::vector<std::string> color_presets_like(std::string_view value) {
  std::vector<std::string> names;
  for (const ColorPreset& preset : color_preset_table()) {
    for (const std::string_view name : {preset.name, preset.alias}) {
      if (!name.empty()) names.emplace_back(name);
    }
  }
  return words_like(name_in(value), names);
}

std::string color_preset_example(std::string_view name) {
  const ColorPreset* preset = preset_named(name);
  if (preset == nullptr) return "";
  if (preset->amount != Amount::required) return std::string(name);
  return formatted("{}={}", name, preset->shown);
}

std::vector<std::string> color_preset_words() {
  std::vector<std::string> words;
  for (const ColorPreset& preset : color_preset_table())
    words.push_back(std::string(preset.name) + (preset.amount == Amount::required ? "=" : ""));
  return words;
}

std::string color_preset_list() {
  std::string text =
      "# The presets of --color NAME[=AMOUNT]. Rows give red, green, blue (and alpha);\n"
      "# columns are weights of red, green, blue (and alpha). A last column is added,\n"
      "# as a fraction of the largest sample. '%' may follow an amount and 'deg' a hue.\n"
      "# Each of these matrices can also be written into a file for --color.\n";
  for (const ColorPreset& preset : color_preset_table())
    text += formatted("\n{}", list_entry(preset));
  return text;
}

}  // namespace gpufilter

#include "stages/colour/color_presets.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "stage/options/number.hpp"
#include "stages/colour/color_preset_table.hpp"

namespace gpufilter {
namespace {

using Amount = ColorPreset::Amount;

// To nine decimals, and never -0.
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

// The colour matrices that have a name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stages/colour/color.hpp"

namespace gpufilter {

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
  MatrixRows (*rows)(double amount) = nullptr;  // not yet rounded to nine decimals
};

[[nodiscard]] const std::vector<ColorPreset>& color_preset_table();

// The matrix of "sepia", "hue=90" or "saturate=150%"; nothing if the part before '=' is not the
// name of a preset. Throws UsageError if the amount is missing, superfluous, malformed or out of
// range.
//
// Every number of a preset is computed in double precision with sums, products and divisions only,
// and then rounded to nine decimals: it is the same on every machine.
[[nodiscard]] std::optional<MatrixRows> find_color_preset(std::string_view value);

// The names most similar to the one in `value`, best first; empty if none is similar.
[[nodiscard]] std::vector<std::string> color_presets_like(std::string_view value);

// A value of --color with the preset `name`: "sepia", "brightness=1.25" if it needs an amount;
// empty if there is no such preset.
[[nodiscard]] std::string color_preset_example(std::string_view name);

// The beginnings of values with a preset: "sepia", "brightness=" if it needs an amount.
[[nodiscard]] std::vector<std::string> color_preset_words();

// The output of --list-presets: each preset with its range, its effect, the source of its numbers
// and its matrix, in the form of a file for --color.
[[nodiscard]] std::string color_preset_list();

}  // namespace gpufilter

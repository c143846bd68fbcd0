// Each preset of --color and how its numbers are made. For color_presets.cpp and its tests.
#pragma once

#include <string_view>
#include <vector>

#include "stages/colour/color_matrix.hpp"

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

}  // namespace gpufilter

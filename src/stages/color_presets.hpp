// The colour matrices that have a name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stages/color_matrix.hpp"

namespace gpufilter {

// "sepia", "hue=90", "saturate=150%": nothing where the part before '=' names no preset. Throws
// UsageError where the amount is missing, superfluous, malformed or out of range.
//
// Every number of a preset is computed in double precision from sums, products and divisions alone
// and then rounded to nine decimals: the same on every machine.
[[nodiscard]] std::optional<MatrixRows> find_color_preset(std::string_view value);

// The names most like the one in `value`, best first; empty where none is.
[[nodiscard]] std::vector<std::string> color_presets_like(std::string_view value);

// What --list-presets prints: each preset with its range, what it does, where its numbers come from
// and its matrix, as a file for --color would hold it.
[[nodiscard]] std::string color_preset_list();

}  // namespace gpufilter

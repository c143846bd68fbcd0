// The parameters that several kinds of stages may take, each declared once.
#pragma once

#include "stage/gravity.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

// Its value is a Border.
[[nodiscard]] StageParameter border_parameter();

// Its value is an AlphaMode.
[[nodiscard]] StageParameter alpha_parameter();
[[nodiscard]] StageParameter gravity_parameter();

// The value of --gravity, with `automatic` in place of its default.
[[nodiscard]] Gravity gravity_of(const OptionValues& values, Gravity automatic);

}  // namespace gpufilter

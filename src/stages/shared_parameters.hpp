// The parameters that several kinds of stages may take, each declared once.
#pragma once

#include "stages/catalogue.hpp"

namespace gpufilter {

// Its value is a Border.
[[nodiscard]] StageParameter border_parameter();

// Its value is an AlphaMode.
[[nodiscard]] StageParameter alpha_parameter();

}  // namespace gpufilter

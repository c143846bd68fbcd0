// The page of "gpufilter help STAGE".
#pragma once

#include <string>

#include "stages/catalogue.hpp"

namespace gpufilter {

// What the stage does, its values and parameters, its formula, what it does at the picture's edges
// and with alpha, examples: all from its declaration.
[[nodiscard]] std::string stage_page(const StageKind& kind);

}  // namespace gpufilter

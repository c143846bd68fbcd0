// The page of "gpufilter help STAGE".
#pragma once

#include <string>

#include "stages/catalogue.hpp"

namespace gpufilter {

// The stage's purpose, values, parameters and formula, its handling of edges and alpha, and
// examples, all from its declaration.
[[nodiscard]] std::string stage_page(const StageKind& kind);

}  // namespace gpufilter

// The public header with a type for each stage, include/gpufilter/stages.hpp.
#pragma once

#include <string>

namespace gpufilter::manual {

// Its text, from the catalogue of stages. The file in include/ is a copy of it.
[[nodiscard]] std::string stage_header();

}  // namespace gpufilter::manual

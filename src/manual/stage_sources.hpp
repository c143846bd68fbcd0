// Sources made from the catalogue of stages: the public header with a type for each,
// include/gpufilter/stages.hpp, and the Python module gpufilter.stages.
#pragma once

#include <string>

namespace gpufilter::manual {

// The file in include/ is a copy of it.
[[nodiscard]] std::string stage_header();

// A function for each stage, with types and help from its declaration.
[[nodiscard]] std::string stage_module();

}  // namespace gpufilter::manual

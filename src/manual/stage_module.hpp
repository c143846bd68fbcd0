// The Python module gpufilter.stages.
#pragma once

#include <string>

namespace gpufilter::manual {

// A function for each stage, with types and help from its declaration.
[[nodiscard]] std::string stage_module();

}  // namespace gpufilter::manual

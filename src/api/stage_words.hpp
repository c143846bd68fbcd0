// Public uses of stages as the chain that they mean.
#pragma once

#include <vector>

#include <gpufilter/filter.hpp>

#include "stages/stage.hpp"

namespace gpufilter {

// Throws UsageError for unknown or invalid stages and parameters.
[[nodiscard]] StageChain chain_of(const std::vector<StageUse>& uses);

}  // namespace gpufilter

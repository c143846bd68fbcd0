// Which pictures a chain turns upright without being asked to by --auto-orient.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/run/run.hpp"

namespace gpufilter {

// The values of --orientation.
enum class OrientationRule {
  automatic,  // before the first stage that depends on the orientation
  apply,      // at the beginning
  keep        // nowhere
};

// Their words: "auto", "apply", "keep".
[[nodiscard]] const std::vector<std::pair<std::string, OrientationRule>>& orientation_rules();

// Adds the stage that applies the orientation to `chain` where the rule wants it. `outputs` stay
// behind the stages that they were behind.
void add_upright_stage(StageChain& chain, OrientationRule rule, std::vector<ChainOutput>& outputs);

}  // namespace gpufilter

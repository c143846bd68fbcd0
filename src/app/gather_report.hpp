// What `gpufilter gather` found, as text and as JSON.
#pragma once

#include <string>

#include "batch/gather.hpp"

namespace gpufilter {

// A line with the numbers, then what is missing or at work and the commands that do the rest, of
// each at most ten lines.
[[nodiscard]] std::string gather_text(const GatherReport& report);

// One JSON object with everything.
[[nodiscard]] std::string gather_json(const GatherReport& report);

}  // namespace gpufilter

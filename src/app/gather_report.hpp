// The report of `gpufilter gather`, as text and as JSON.
#pragma once

#include <string>

#include "batch/gather.hpp"

namespace gpufilter {

// A line with the counts, then what is missing or in progress, and the commands that do the rest:
// at most ten lines of each.
[[nodiscard]] std::string gather_text(const GatherReport& report);

// The whole report as one JSON object, "gpufilter-gather-1".
[[nodiscard]] std::string gather_json(const GatherReport& report);

}  // namespace gpufilter

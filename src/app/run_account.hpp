// What -v says about a run.
#pragma once

#include <string>
#include <vector>

#include "pipeline/run.hpp"

namespace gpufilter {

// Lines for the log: device and why in full, the plan (stages, bands, memory), each stage's code
// and where its program came from, what the start took. `chain` is what was asked for.
[[nodiscard]] std::vector<std::string> run_account(const RunReport& report,
                                                   const StageChain& chain);

}  // namespace gpufilter

// The lines that -v prints about a run.
#pragma once

#include <string>
#include <vector>

#include "pipeline/run/run.hpp"

namespace gpufilter {

// Lines for the log: the device and the full reason, the plan (stages, bands, memory), each stage's
// code and the source of its program, the time of the start. `chain` is the requested one.
[[nodiscard]] std::vector<std::string> run_account(const RunReport& report,
                                                   const StageChain& chain);

}  // namespace gpufilter

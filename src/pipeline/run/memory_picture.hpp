// Filters a picture in memory: for checks and measurements, which need no files.
#pragma once

#include <functional>
#include <memory>

#include "pipeline/execute/band_executor.hpp"

namespace gpufilter::lab {

// Makes the executor for the passes of a plan.
using MakeExecutor = std::function<std::unique_ptr<BandExecutor>(const Plan&)>;

// The result of the whole chain, whose demands are met, in bands and on a device
// as `limits` say. The result's memory is filled with a pattern beforehand, so that unwritten
// pixels show. Throws what the executors throw.
[[nodiscard]] Image filter_in_memory(const Image& image, LoweredChain chain,
                                     const PlanLimits& limits, const MakeExecutor& make);
// Lowers `chain` for a picture of which only the shape is known, and filters it.
[[nodiscard]] Image filter_in_memory(const Image& image, const StageChain& chain,
                                     const PlanLimits& limits, const MakeExecutor& make);

// Filters with the processor's baseline on this thread: one stage after the other, each over the
// whole picture.
[[nodiscard]] Image filter_by_baseline(const Image& image, const StageChain& chain);

}  // namespace gpufilter::lab

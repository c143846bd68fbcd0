// Learns from a run how fast this machine is.
#pragma once

#include <string>

#include "pipeline/estimate.hpp"

namespace gpufilter {

struct RunReport;

// The place of the processor's rates, which differ between instruction sets.
[[nodiscard]] std::string host_place();

// The place of the rates of the GPU that was last used with these OpenCL vendors: its name and
// driver; empty if none was used yet.
[[nodiscard]] std::string gpu_place(const RateStore& store, const std::string& vendors);
// Whether a search among these vendors found no GPU that works, within the last week.
[[nodiscard]] bool known_without_gpu(const RateStore& store, const std::string& vendors);
void keep_without_gpu(RateStore& store, const std::string& vendors);

// Takes the times of a picture into account. In a folder several pictures share the cores, so only
// the device's own times are meaningful.
void learn_from(RateStore& store, const std::string& vendors, const PictureTask& task,
                const RunReport& report, bool in_folder);

}  // namespace gpufilter

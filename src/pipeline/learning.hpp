// What a run says about how fast this machine is.
#pragma once

#include <string>

#include "pipeline/estimate.hpp"

namespace gpufilter {

struct RunReport;

// Where the processor's rates are kept: they differ between instruction sets.
[[nodiscard]] std::string host_place();

// Where the rates of the GPU are kept that was last in use with these OpenCL vendors: its name and
// driver; empty where none was in use yet.
[[nodiscard]] std::string gpu_place(const RateStore& store, const std::string& vendors);
// Whether a search among these vendors found no GPU that works, within the last week.
[[nodiscard]] bool known_without_gpu(const RateStore& store, const std::string& vendors);
void keep_without_gpu(RateStore& store, const std::string& vendors);

// Takes the times of a picture into account. In a folder, where several pictures share the cores,
// only a device's times say how long it takes for itself.
void learn_from(RateStore& store, const std::string& vendors, const PictureTask& task,
                const RunReport& report, bool in_folder);

}  // namespace gpufilter

// The chains of stages that a device has programs for from earlier runs. Kept beside the rates,
// because the program cache can be queried only once the device is started.
#pragma once

#include <string>

#include "pipeline/estimate.hpp"

namespace gpufilter {

// Whether this version of gpufilter has completed a run of this chain on pictures of this format at
// `place` (a device with its driver). Only the last 64 such chains are remembered.
[[nodiscard]] bool has_programs(const RateStore& store, const std::string& place,
                                const PictureTask& task);
void keep_programs_known(RateStore& store, const std::string& place, const PictureTask& task);

}  // namespace gpufilter

// Which chains of stages a device has programs for from earlier runs: kept beside the rates, as the
// program cache can be asked only once the device is started.
#pragma once

#include <string>

#include "pipeline/estimate.hpp"

namespace gpufilter {

// Whether a run of this chain on pictures of this format, by this version of gpufilter, ended at
// `place` (a device with its driver). Of the chains that did, the last 64 are known.
[[nodiscard]] bool has_programs(const RateStore& store, const std::string& place,
                                const PictureTask& task);
void keep_programs_known(RateStore& store, const std::string& place, const PictureTask& task);

}  // namespace gpufilter

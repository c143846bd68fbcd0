// The engines that a command line asks for.
#pragma once

#include <memory>
#include <vector>

#include "app/filter_options.hpp"
#include "pipeline/engine.hpp"

namespace gpufilter {

// One; with --device all one for each device. Throws DeviceError where nothing fits, UsageError.
[[nodiscard]] std::vector<std::unique_ptr<Engine>> make_engines(const FilterOptions& options);

}  // namespace gpufilter

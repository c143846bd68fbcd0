// The engines that a command line asks for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/filter_options.hpp"
#include "pipeline/engine.hpp"

namespace gpufilter {

using Engines = std::vector<std::unique_ptr<Engine>>;

// One on what `device` stands for, loading no more of OpenCL than that takes; it looks for it in
// the background. To be made before other threads are started. Throws UsageError.
[[nodiscard]] std::unique_ptr<Engine> make_engine(const std::string& device, bool require_device,
                                                  const EngineOptions& options);

// One, as above; with --device all one for each device. They are
// never destroyed: the process ends sooner than a driver and its compiler give back what they hold.
// Throws DeviceError where nothing fits, UsageError.
[[nodiscard]] const Engines& make_engines(const FilterOptions& options);

}  // namespace gpufilter

// Engines for the devices that people ask for by name.
#pragma once

#include <memory>
#include <string>

#include "pipeline/engine.hpp"

namespace gpufilter {

// With the user's program cache, where there is a folder for it.
[[nodiscard]] EngineOptions default_engine_options();

// On what `device` stands for, loading no more of OpenCL than that takes; it looks for the device
// in the background. To be made before other threads are started. Throws UsageError.
[[nodiscard]] std::unique_ptr<Engine> make_engine(const std::string& device, bool require_device,
                                                  const EngineOptions& options);

}  // namespace gpufilter

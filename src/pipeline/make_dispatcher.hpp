// Engines and dispatchers for the devices that people ask for by name.
#pragma once

#include <memory>
#include <string>

#include "pipeline/dispatcher.hpp"

namespace gpufilter {

// With the user's program cache, where there is a folder for it.
[[nodiscard]] EngineOptions default_engine_options();

// On what `device` (any but auto and all) stands for, loading no more of OpenCL than that takes; it
// looks for the device in the background. To be made before other threads are started. Throws
// UsageError.
[[nodiscard]] std::unique_ptr<Engine> make_engine(const std::string& device, bool require_device,
                                                  const EngineOptions& options);

// Who runs `chain` for --device `device`, auto and all among them. It learns from every run, in the
// user's cache folder. As above.
[[nodiscard]] std::unique_ptr<Dispatcher> make_dispatcher(const std::string& device,
                                                          bool require_device,
                                                          const StageChain& chain,
                                                          const EngineOptions& options);

}  // namespace gpufilter

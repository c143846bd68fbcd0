// Engines and dispatchers for the devices that people ask for by name.
#pragma once

#include <memory>
#include <string>

#include "pipeline/dispatcher.hpp"

namespace gpufilter {

// In the user's cache folder; where there is none, for this process alone.
[[nodiscard]] std::shared_ptr<RateStore> make_rate_store();
[[nodiscard]] std::shared_ptr<TuningStore> make_tuning_store();

// The installed OpenCL vendors but PoCL: where there is none there is no GPU.
[[nodiscard]] std::string gpu_vendors();

// With the user's program cache and what was tuned, where there is a folder for them.
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

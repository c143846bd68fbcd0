// Engines and dispatchers for the values of --device.
#pragma once

#include <memory>
#include <string>

#include "pipeline/choose/dispatcher.hpp"

namespace gpufilter {

// In the user's cache folder; if there is none, only for this process.
[[nodiscard]] std::shared_ptr<RateStore> make_rate_store();
[[nodiscard]] std::shared_ptr<TuningStore> make_tuning_store();

// The installed OpenCL vendors except PoCL: if there is none, there is no GPU.
[[nodiscard]] std::string gpu_vendors();

// With the user's program cache and tuning results, if there is a folder for them.
[[nodiscard]] EngineOptions default_engine_options();

// For `device` (any value except auto and all). Loads no more of OpenCL than necessary and searches
// for the device in the background. Create it before other threads are started. Throws UsageError.
[[nodiscard]] std::shared_ptr<Engine> make_engine(const std::string& device, bool require_device,
                                                  const EngineOptions& options);

// The dispatcher that runs `chain` for --device `device`, including auto and all. It learns from
// every run, in the user's cache folder. Otherwise as above.
[[nodiscard]] std::unique_ptr<Dispatcher> make_dispatcher(const std::string& device,
                                                          bool require_device,
                                                          const StageChain& chain,
                                                          const EngineOptions& options);

}  // namespace gpufilter

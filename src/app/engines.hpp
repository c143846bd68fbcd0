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

// The engines of a command line: one, as above; with --device all one for each device. They outlast
// this: the process ends sooner than a driver and its compiler give back what they hold.
class LastingEngines {
 public:
  // Throws DeviceError where nothing fits, UsageError.
  explicit LastingEngines(const FilterOptions& options);
  // Waits for what is still being started: a process must not end in the middle of that.
  ~LastingEngines();
  LastingEngines(const LastingEngines&) = delete;
  LastingEngines& operator=(const LastingEngines&) = delete;

  [[nodiscard]] const Engines& list() const { return engines_; }

 private:
  Engines& engines_;
};

}  // namespace gpufilter

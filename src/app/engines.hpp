// The engines that a command line asks for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/filter_options.hpp"
#include "pipeline/engine.hpp"

namespace gpufilter {

using Engines = std::vector<std::unique_ptr<Engine>>;

// The engines of a command line: one, or with --device all one for each device. They are never
// destroyed: ending the process is faster than freeing what a driver and its compiler hold.
class LastingEngines {
 public:
  // Throws DeviceError where nothing fits, UsageError.
  explicit LastingEngines(const FilterOptions& options);
  // Waits for devices that are still being started: a process must not end meanwhile.
  ~LastingEngines();
  LastingEngines(const LastingEngines&) = delete;
  LastingEngines& operator=(const LastingEngines&) = delete;

  [[nodiscard]] const Engines& list() const { return engines_; }

 private:
  Engines& engines_;
};

}  // namespace gpufilter

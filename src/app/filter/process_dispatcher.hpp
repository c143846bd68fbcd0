// The dispatcher of a command line.
#pragma once

#include "app/filter/filter_options.hpp"
#include "pipeline/choose/dispatcher.hpp"

namespace gpufilter {

// Its devices are never destroyed: ending the process is faster than freeing the memory of a driver
// and its compiler.
class ProcessDispatcher {
 public:
  // Throws UsageError.
  explicit ProcessDispatcher(const FilterOptions& options);
  // Waits for devices that are still being started: a process must not end meanwhile.
  ~ProcessDispatcher();
  ProcessDispatcher(const ProcessDispatcher&) = delete;
  ProcessDispatcher& operator=(const ProcessDispatcher&) = delete;

  [[nodiscard]] Dispatcher& get() const { return dispatcher_; }

 private:
  Dispatcher& dispatcher_;
};

}  // namespace gpufilter

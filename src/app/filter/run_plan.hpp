// Carries out the plan of the requested run.
#pragma once

#include <memory>

#include "app/filter/filter_options.hpp"
#include "base/timeline.hpp"
#include "batch/batch_plan.hpp"
#include "codec/byte_sink.hpp"
#include "pipeline/choose/dispatcher.hpp"

namespace gpufilter {

// The dispatcher of the command line. Its devices are never destroyed: ending the process is faster
// than freeing the memory of a driver and its compiler.
class ProcessDispatcher {
 public:
  // Starts the search for devices. Throws UsageError.
  explicit ProcessDispatcher(const FilterOptions& options);
  // Waits for devices that are still being started: a process must not end meanwhile.
  ~ProcessDispatcher() { dispatcher_.await_starts(); }
  ProcessDispatcher(const ProcessDispatcher&) = delete;
  ProcessDispatcher& operator=(const ProcessDispatcher&) = delete;

  [[nodiscard]] Dispatcher& get() const { return dispatcher_; }

 private:
  Dispatcher& dispatcher_;
};

// If a requested device does not exist, this reports it, before anything is written.
void await_requested_device(const FilterOptions& options, Dispatcher& dispatcher);

// Opened before the run, so that no work is wasted if the trace cannot be written; nullptr if none
// is to be written.
[[nodiscard]] std::unique_ptr<ByteSink> open_trace(const FilterOptions& options);

// Filters the pictures of a plan for a folder, and reports them. Returns the exit code.
[[nodiscard]] int run_plan(const FilterOptions& options, const BatchPlan& plan,
                           Dispatcher& dispatcher, Nanoseconds start);

}  // namespace gpufilter

// The devices that a command line asks for.
#pragma once

#include <memory>
#include <string>

#include "app/filter_options.hpp"
#include "pipeline/dispatcher.hpp"

namespace gpufilter {

// An engine for `device` (any but auto and all), loading no more of OpenCL than that takes; it
// looks for the device in the background. To be made before other threads are started. Throws
// UsageError.
[[nodiscard]] std::unique_ptr<Engine> make_engine(const std::string& device, bool require_device,
                                                  const EngineOptions& options);

// Binaries and measured times are kept in the cache folder, where there is one.
[[nodiscard]] EngineOptions engine_options();

// Who filters the pictures of a command line. It outlasts this: the process ends sooner than a
// driver and its compiler give back what they hold.
class LastingDispatcher {
 public:
  // Throws UsageError.
  explicit LastingDispatcher(const FilterOptions& options);
  // Waits for what is still being started: a process must not end in the middle of that.
  ~LastingDispatcher();
  LastingDispatcher(const LastingDispatcher&) = delete;
  LastingDispatcher& operator=(const LastingDispatcher&) = delete;

  [[nodiscard]] Dispatcher& get() const { return dispatcher_; }

 private:
  Dispatcher& dispatcher_;
};

}  // namespace gpufilter

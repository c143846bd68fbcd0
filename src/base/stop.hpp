// Stopping a call: whatever works for it, on whichever thread, checks from time to time.
#pragma once

#include <stop_token>

#include <gpufilter/control.hpp>  // IWYU pragma: export

namespace gpufilter {

// While a StopScope exists, `stop` stops this thread's work; the token has to outlive the scope.
// run_parts(), run_band_pipeline() and BackgroundTask pass it on to the threads that they use.
class StopScope {
 public:
  explicit StopScope(const std::stop_token& stop);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const std::stop_token* before_;
};

// The stop token of the call that this thread works for; without a call, a token that never stops.
[[nodiscard]] const std::stop_token& stop_of_this_call();

// Throws Stopped if a stop of this call is requested. Work without a check takes at most a few
// hundredths of a second.
void check_stop();

}  // namespace gpufilter

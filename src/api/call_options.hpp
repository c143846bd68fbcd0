// The common beginning of public functions: limits, callbacks and stop tokens.
#pragma once

#include <functional>
#include <string>

#include <gpufilter/control.hpp>
#include <gpufilter/filter.hpp>

#include "pipeline/run/run.hpp"

namespace gpufilter {

// From the first call on, log lines go to the callback of set_log() instead of standard error, and
// the environment is left alone if other threads exist.
void enter_library();

// Throws UsageError for unknown options and values that they do not take.
[[nodiscard]] WriteOptions write_options(const FormatOptions& given, const Limits& limits);

[[nodiscard]] ReadLimits read_limits(const Limits& limits);

// Reports the finished fraction. `control` has to outlive it.
[[nodiscard]] OnProgress on_progress(const RunControl& control);

// For a run from file to file; `control` has to outlive it.
[[nodiscard]] RunOptions run_options(const FormatOptions& options, const Limits& limits,
                                     const RunControl& control);

// Runs `work` with the threads that `limits` allow, as a call that `control` stops. Out of memory
// becomes a PictureError with this name.
void run_limited(const Limits& limits, const RunControl& control, const std::string& name,
                 const std::function<void()>& work);

[[nodiscard]] double seconds_since(Nanoseconds start);

}  // namespace gpufilter

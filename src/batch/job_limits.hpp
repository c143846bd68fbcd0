// How many pictures can be in progress at the same time, with how many threads.
#pragma once

#include <cstddef>

#include "batch/batch_run.hpp"

namespace gpufilter {

// How many of `jobs` pictures may be in progress at the same time so that all files that they need
// can be open; at least 1.
[[nodiscard]] int jobs_within_file_limit(int jobs);

struct JobLimits {
  std::size_t jobs = 1;         // pictures at the same time
  std::size_t threads = 1;      // in total, at least `jobs`
  bool is_below_usual = false;  // whether `threads` has to be enforced
};

// What `options` ask for, within the number of pictures and the limits on open files, processes and
// memory. Says in a message what a limit reduces.
[[nodiscard]] JobLimits job_limits(const BatchOptions& options, std::size_t pictures);

}  // namespace gpufilter

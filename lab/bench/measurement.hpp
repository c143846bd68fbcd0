// How long work takes, measured several times.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "device/session.hpp"

namespace gpufilter::lab {

// Statistics of the trials' times, in seconds.
struct Spread {
  double mean = 0;
  double minimum = 0;
  double maximum = 0;
  double deviation = 0;  // of the sample: the divisor is one less than the number of trials
};
// At least one time.
[[nodiscard]] Spread spread_of(std::span<const double> seconds);

struct Measurement {
  Spread wall;  // on the host's clock, from the first command to the end of the last
  std::optional<Spread> events;  // by OpenCL's profiling: from the first start to the last end
  int trials = 0;                // fewer than requested if they took too long

  // By events if there are any.
  [[nodiscard]] const Spread& best_clock() const { return events ? *events : wall; }
};

// Does the work once to warm up (programs, caches, pages), then in `trials` trials, or in as many
// as fit into five seconds. If one run takes longer than that, the first run counts. Work of less
// than 2 ms is repeated within a trial; times are those of one repetition.
[[nodiscard]] Measurement measure(int trials, const std::function<void()>& work);

// Measures commands that `work` enqueues in `queue` and returns in order.
using QueuedWork = std::function<std::vector<Event>()>;
[[nodiscard]] Measurement measure(int trials, Queue& queue, const QueuedWork& work);

}  // namespace gpufilter::lab

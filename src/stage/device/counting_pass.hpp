// Statistics on a device without storing the picture: the kernel that computes a result also counts
// it.
#pragma once

#include <vector>

#include "compute/histogram_counters.hpp"
#include "stage/device/fused_source.hpp"
#include "stage/device/row_launch.hpp"

namespace gpufilter {

// Whether kernels on `device` can count this quantity of a result in `format`.
[[nodiscard]] bool can_count(const DeviceInfo& device, const PixelFormat& format,
                             Quantity quantity);

// Not thread-safe; only for one queue at a time.
class CountingPass {
 public:
  // Builds the kernel of `group`, whose sink counts. `description` gets the variant and the reason.
  // `session` has to outlive the pass. Throws DeviceError, UsageError.
  CountingPass(Session& session, const StageGroup& group, CodeDescription description);

  [[nodiscard]] const CodeDescription& description() const { return launch_.description(); }

  // Queues the work that counts the rows `target` of the result; `source` covers the rows that the
  // stages need. Returns its commands, in order, for the timing. Throws std::overflow_error if a
  // band has too many pixels to be counted.
  std::vector<Event> enqueue(Queue& queue, const DeviceRows& source, const RowRange& target);

  // The statistics of everything counted so far; waits until `queue` is done.
  [[nodiscard]] const PictureStatistics& result(Queue& queue) { return counters_.result(queue); }

 private:
  RowLaunch launch_;
  HistogramCounters counters_;
  int width_;  // of the result
};

}  // namespace gpufilter

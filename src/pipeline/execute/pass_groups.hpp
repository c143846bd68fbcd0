// Neighbouring passes that a device carries out in one kernel.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "compute/picture_reduction.hpp"
#include "pipeline/execute/band_executor.hpp"
#include "stage/device/fused_source.hpp"
#include "stage/device/row_pass.hpp"

namespace gpufilter {

// Statistics without storing the picture: the kernel that computes a result also counts it. Not
// thread-safe; only for one queue at a time.
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

// The passes first ... end - 1 of a plan; at least one.
struct PassGroup {
  std::size_t first = 0;
  std::size_t end = 0;
  // Whether its kernel counts its result, for the plan's statistics, instead of storing it.
  bool counts = false;
};

// All passes of the plan, in order. Without `fuse`, each is its own group.
[[nodiscard]] std::vector<PassGroup> group_passes(const Plan& plan, const DeviceInfo& device,
                                                  bool fuse);

// Builds the kernel of a group that does not count. Throws DeviceError, UsageError.
[[nodiscard]] std::unique_ptr<DevicePass> prepare_group(const Plan& plan, const PassGroup& group,
                                                        Session& session);
// Prepares a group that counts.
[[nodiscard]] std::unique_ptr<CountingPass> prepare_counting(const Plan& plan,
                                                             const PassGroup& group,
                                                             Session& session);

// Like describe_pass() for all passes of the group: "color + levels", "blur + statistics".
[[nodiscard]] PassReport describe_group(const Plan& plan, const PassGroup& group);

}  // namespace gpufilter

// Neighbouring passes that a device carries out in one kernel.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "pipeline/execute/band_executor.hpp"
#include "stage/device/counting_pass.hpp"

namespace gpufilter {

// The passes first ... end - 1 of a plan; at least one.
struct PassGroup {
  std::size_t first = 0;
  std::size_t end = 0;
  // Whether its kernel counts its result, for the plan's statistics, instead of storing it.
  bool counts = false;
};

// All passes of the plan, in their order. Without `fuse`, each is a group by itself.
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

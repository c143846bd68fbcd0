// Neighbouring passes that a device carries out by one kernel.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "pipeline/band_executor.hpp"
#include "stages/counting_pass.hpp"

namespace gpufilter {

// The passes first ... end - 1 of a plan; at least one.
struct PassGroup {
  std::size_t first = 0;
  std::size_t end = 0;
  // Whether its kernel counts its result, which is what the plan measures, and stores none.
  bool counts = false;
};

// All passes of the plan, in their order. Without `fuse`, each is a group by itself.
[[nodiscard]] std::vector<PassGroup> group_passes(const Plan& plan, const DeviceInfo& device,
                                                  bool fuse);

// Builds what the group, which does not count, needs on the device. Throws DeviceError, UsageError.
[[nodiscard]] std::unique_ptr<DevicePass> prepare_group(const Plan& plan, const PassGroup& group,
                                                        Session& session);
// The same for the group that counts.
[[nodiscard]] std::unique_ptr<CountingPass> prepare_counting(const Plan& plan,
                                                             const PassGroup& group,
                                                             Session& session);

// As describe_pass(), of all passes of the group: "color + levels", "blur + statistics".
[[nodiscard]] PassReport describe_group(const Plan& plan, const PassGroup& group);

}  // namespace gpufilter

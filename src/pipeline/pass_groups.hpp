// Neighbouring passes that a device carries out by one kernel.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "pipeline/band_executor.hpp"

namespace gpufilter {

// The passes first ... end - 1 of a plan; at least one.
struct PassGroup {
  std::size_t first = 0;
  std::size_t end = 0;
};

// All passes of the plan, in their order. Without `fuse`, each is a group by itself.
[[nodiscard]] std::vector<PassGroup> group_passes(const Plan& plan, const DeviceInfo& device,
                                                  bool fuse);

// Builds what the group needs on the device. Throws DeviceError, UsageError.
[[nodiscard]] std::unique_ptr<DevicePass> prepare_group(const Plan& plan, const PassGroup& group,
                                                        Session& session);

// As describe_pass(), of all passes of the group: "color + levels".
[[nodiscard]] PassReport describe_group(const Plan& plan, const PassGroup& group);

}  // namespace gpufilter

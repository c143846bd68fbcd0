// Stages that share one generated kernel, on a device.
#pragma once

#include <memory>

#include "stages/fused_source.hpp"
#include "stages/stage.hpp"

namespace gpufilter {

// Builds the kernel for pictures of this size. `description` has the variant and the reason. Throws
// DeviceError.
[[nodiscard]] std::unique_ptr<DevicePass> make_fused_pass(Session& session, StageGroup group,
                                                          ImageSize size,
                                                          DevicePass::Description description);

}  // namespace gpufilter

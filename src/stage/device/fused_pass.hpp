// Stages that share a generated kernel on a device.
#pragma once

#include <memory>

#include "stage/device/fused_source.hpp"
#include "stage/stage.hpp"

namespace gpufilter {

// The kernel for either sink, before it is built, in the shape that the session's tuning chooses.
// `description` gets the variant and the reason.
[[nodiscard]] RowKernel fused_kernel(const Session& session, const StageGroup& group,
                                     CodeDescription description);

// Builds the kernel; its sink is a picture. `description`: as above. Throws DeviceError.
[[nodiscard]] std::unique_ptr<DevicePass> make_fused_pass(Session& session, const StageGroup& group,
                                                          CodeDescription description);

}  // namespace gpufilter

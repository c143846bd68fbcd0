// Stages as one generated kernel.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stages/pixel_function.hpp"
#include "stages/stage.hpp"

namespace gpufilter {

// One of the stages, at its place in the group.
struct PixelStep {
  PixelFunction function;
  PixelFormat source;
  PixelFormat target;
};

// The OpenCL C that follows kernels/fused.cl: a function for each step, and the kernel "fused",
// whose parameters are ROWS and the steps' tables in their order.
[[nodiscard]] std::string fused_source(const std::vector<PixelStep>& steps);

// Builds the kernel for pictures of this size; there is at least one step. Throws DeviceError.
[[nodiscard]] std::unique_ptr<DevicePass> make_fused_pass(Session& session,
                                                          std::vector<PixelStep> steps,
                                                          ImageSize size,
                                                          DevicePass::Description description);

}  // namespace gpufilter

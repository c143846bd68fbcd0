// A Gaussian of a small radius in one kernel, for NVIDIA's GPUs.
#pragma once

#include <memory>
#include <string>

#include "stages/gaussian_rows.hpp"
#include "stages/stage.hpp"

namespace gpufilter {

// The stage that does the work of both steps of a Gaussian, for pictures of this format on
// `device`; nullptr if it does not suit them: other devices, 16-bit samples, colours weighted by
// alpha, masks, and radii whose sums exceed the registers.
[[nodiscard]] std::shared_ptr<const Stage> gaussian_strips(const std::string& stage,
                                                           const GaussianWindow& window,
                                                           const PixelFormat& picture,
                                                           const std::string& label,
                                                           const DeviceInfo& device);

}  // namespace gpufilter

// A Gaussian in one kernel, for GPUs with matrix units.
#pragma once

#include <memory>
#include <string>

#include "stages/gaussian_rows.hpp"
#include "stages/stage.hpp"

namespace gpufilter {

// The stage that does the work of both steps of a Gaussian, for pictures of this format on
// `device`; nullptr if the device has no matrix units for bytes, or the window does not suit them:
// 16-bit samples, colours weighted by alpha, masks, and radii whose sums exceed local memory.
[[nodiscard]] std::shared_ptr<const Stage> gaussian_matrix(const std::string& stage,
                                                           const GaussianWindow& window,
                                                           const PixelFormat& picture,
                                                           const std::string& label,
                                                           const DeviceInfo& device);

}  // namespace gpufilter

// A Gaussian in one kernel, for GPUs with matrix units.
#pragma once

#include <memory>
#include <string>

#include "stage/device/row_kernel.hpp"
#include "stage/step.hpp"
#include "stages/gaussian/gaussian_rows.hpp"

namespace gpufilter {

// Makes the kernel's results those of an unsharp mask (kernels/gaussian/unsharp_mask.cl): adds
// macros, and a table after the others.
void add_mask(RowKernel& kernel, const UnsharpMask& mask, const PixelFormat& picture);

// The stage that does the work of both steps of a Gaussian, for pictures of this format on
// `device`; nullptr if the device has no matrix units for bytes, or the window does not suit them:
// 16-bit samples, colours weighted by alpha, radii whose sums exceed local memory, and masks of
// radii that strips do not suit.
[[nodiscard]] std::shared_ptr<const Step> gaussian_matrix(const std::string& stage,
                                                          const GaussianWindow& window,
                                                          const PixelFormat& picture,
                                                          const std::string& label,
                                                          const DeviceInfo& device);

}  // namespace gpufilter

// Chooses among kernels over rows, and how a kernel divides its work.
#pragma once

#include <vector>

#include "stage/device/row_pass.hpp"

namespace gpufilter {

// The kernel that the session's tuning chooses: `usual`, one of `others`, or any of them in another
// shape from kernels/candidates.json. `usual` if it chooses none.
[[nodiscard]] RowKernel chosen_kernel(const Session& session, RowKernel usual,
                                      const std::vector<RowKernel>& others,
                                      const PixelFormat& source, const PixelFormat& target);

// The shape that the session's tuning chooses at the site `name`, for a kernel whose text is
// generated for its shape: changes the kernel's shape, variant and reason. The candidates are those
// of kernels/candidates.json for that name.
void choose_shape(const Session& session, RowKernel& kernel, const std::string& name,
                  const PixelFormat& source, const PixelFormat& target);

// Builds the kernel. If the driver reports that the work-group is too large for the device, a
// smaller one is used, with a message in the log and in kernel.reason. Throws DeviceError;
// UsageError if the work-group was requested (RowKernel::fixed_by).
[[nodiscard]] Kernel build_row_kernel(Session& session, RowKernel& kernel,
                                      const PixelFormat& source, const PixelFormat& target);

}  // namespace gpufilter

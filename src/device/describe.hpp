// What a device says of itself. For this folder alone.
#pragma once

#include <optional>

#include "device/device_info.hpp"
#include "device/opencl.hpp"

namespace gpufilter {

// Nothing where the device is not available or has no compiler; its index is left at 0. Throws
// cl::Error.
[[nodiscard]] std::optional<DeviceInfo> describe(const cl::Platform& platform,
                                                 const cl::Device& device);

}  // namespace gpufilter

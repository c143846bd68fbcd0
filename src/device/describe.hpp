// Queries the properties of a device. Only for this folder.
#pragma once

#include <optional>

#include "device/device_info.hpp"
#include "device/opencl.hpp"

namespace gpufilter {

// Nothing if the device is not available or has no compiler. The index stays 0. Throws cl::Error.
[[nodiscard]] std::optional<DeviceInfo> describe(cl_platform_id platform, const cl::Device& device);

}  // namespace gpufilter

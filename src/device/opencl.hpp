// OpenCL's C++ header, configured once, only for the files of this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wignored-attributes"
#include <CL/opencl.hpp>
#pragma GCC diagnostic pop

#include "device/device_info.hpp"

namespace gpufilter {

// "CL_OUT_OF_RESOURCES (-5)"; only the number if the code has no name here.
[[nodiscard]] std::string opencl_error_text(int code);

// Throws DeviceError "DEVICE: WHAT failed: CL_..." unless `code` is CL_SUCCESS.
void check_opencl(int code, std::string_view device, std::string_view what);

struct DeviceHandle {
  cl::Device device;
};

// Nothing if the device is not available or has no compiler. The index stays 0. Throws cl::Error.
[[nodiscard]] std::optional<DeviceInfo> describe(cl_platform_id platform, const cl::Device& device);

}  // namespace gpufilter

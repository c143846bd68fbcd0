// The OpenCL objects behind the folder's public types.
#pragma once

#include "device/device_info.hpp"
#include "device/opencl.hpp"

namespace gpufilter {

struct DeviceHandle {
  cl::Device device;
};

}  // namespace gpufilter

// Parameters of stages of which a device may not run every value.
#pragma once

#include <string>
#include <vector>

#include "device/device_info.hpp"

namespace gpufilter {

struct DeviceLimit {
  std::string option;        // "--tile"
  std::string name;          // in JSON: "blur_tiles"
  std::vector<int> fitting;  // the values whose group size and local memory fit the device
};

[[nodiscard]] std::vector<DeviceLimit> device_limits(const DeviceInfo& device);

}  // namespace gpufilter

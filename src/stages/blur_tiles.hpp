// The tiles of --blur tiled, and which of them a device can run.
#pragma once

#include <array>
#include <vector>

#include "device/device_info.hpp"

namespace gpufilter {

// The sides that --tile takes.
inline constexpr std::array blur_tiles{8, 16, 32};

// Those that fit with pixels of every format.
[[nodiscard]] std::vector<int> fitting_blur_tiles(const DeviceInfo& device);

}  // namespace gpufilter

// The tiles of --blur tiled, and which of them a device can run.
#pragma once

#include <array>

#include "stages/device_limits.hpp"

namespace gpufilter {

// The sides that --tile takes.
inline constexpr std::array blur_tiles{8, 16, 32};

// Those that fit with pixels of every format.
[[nodiscard]] DeviceLimit blur_tile_limit(const DeviceInfo& device);

}  // namespace gpufilter

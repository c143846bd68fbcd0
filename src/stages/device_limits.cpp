#include "stages/device_limits.hpp"

#include "stages/blur_tiles.hpp"

namespace gpufilter {

std::vector<DeviceLimit> device_limits(const DeviceInfo& device) {
  return {blur_tile_limit(device)};
}

}  // namespace gpufilter

#include <gpufilter/devices.hpp>

#include "api/library.hpp"
#include "device/device_catalog.hpp"

namespace gpufilter {

std::vector<Device> devices() {
  enter_library();
  std::vector<Device> all;
  DeviceCatalog catalog = device_catalog(PastAnswers::ignored);
  for (const DeviceInfo& found : catalog.find_all()) {
    all.push_back({.index = found.index,
                   .name = found.name,
                   .kind = to_string(found.kind),
                   .vendor = found.vendor,
                   .platform = found.platform,
                   .platform_version = found.platform_version,
                   .driver_version = found.driver_version,
                   .compute_units = found.compute_units,
                   .memory = found.global_memory,
                   .max_allocation = found.max_allocation,
                   .unified_memory = found.unified_memory,
                   .unusable = found.unusable});
  }
  return all;
}

}  // namespace gpufilter

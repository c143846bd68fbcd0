#include "device/device_catalog.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "base/log.hpp"
#include "device/describe.hpp"
#include "device/pocl_environment.hpp"
#include "device/vendors.hpp"

namespace gpufilter {
namespace {

void add_devices(cl_platform_id id, std::vector<DeviceInfo>& found) {
  const cl::Platform platform(id);
  try {
    std::vector<cl::Device> devices;
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    for (const cl::Device& device : devices) {
      if (auto info = describe(platform, device)) found.push_back(std::move(*info));
    }
  } catch (const cl::Error& error) {
    log::debug(format("an OpenCL platform was passed over: {} failed: {}", error.what(),
                      opencl_error_text(error.err())));
  }
}

DeviceCatalog::Source devices_of(const std::vector<std::string>& libraries) {
  return [&libraries] {
    std::vector<DeviceInfo> found;
    std::vector<cl_platform_id> known;
    for (const std::string& library : libraries) {
      for (cl_platform_id platform : platforms_of(library)) {
        // Two files may name one library.
        if (std::find(known.begin(), known.end(), platform) != known.end()) continue;
        known.push_back(platform);
        add_devices(platform, found);
      }
    }
    return found;
  };
}

}  // namespace

void DeviceCatalog::find_more() {
  for (DeviceInfo& device : sources_.at(asked_++)()) {
    device.index = static_cast<int>(devices_.size());
    devices_.push_back(std::move(device));
  }
}

DeviceCatalog device_catalog() {
  const Vendors& vendors = installed_vendors();
  std::vector<DeviceCatalog::Source> sources;
  if (!vendors.libraries.empty()) sources.push_back(devices_of(vendors.libraries));
  if (!vendors.late.empty()) {
    prepare_pocl_environment();
    sources.push_back(devices_of(vendors.late));
  }
  return DeviceCatalog(std::move(sources));
}

std::vector<DeviceInfo> discover_devices() {
  DeviceCatalog catalog = device_catalog();
  while (!catalog.complete())
    catalog.find_more();
  return catalog.devices();
}

}  // namespace gpufilter

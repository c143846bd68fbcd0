#include "device/device_catalog.hpp"

#include <algorithm>
#include <cstdint>

#include "base/format.hpp"
#include "base/log.hpp"
#include "base/thread_room.hpp"
#include "device/describe.hpp"
#include "device/pocl_environment.hpp"
#include "device/vendor_probes.hpp"
#include "device/vendors.hpp"

namespace gpufilter {
namespace {

// With less, PoCL's compiler hangs or crashes.
constexpr std::uint64_t space_for_opencl = std::uint64_t{1} << 30U;

void add_devices(cl_platform_id id, std::vector<DeviceInfo>& found) {
  try {
    for (cl_device_id device : devices_of(id)) {
      if (auto info = describe(id, cl::Device(device))) found.push_back(std::move(*info));
    }
  } catch (const cl::Error& error) {
    log::debug(formatted("an OpenCL platform is skipped: {} failed: {}", error.what(),
                         opencl_error_text(error.err())));
  }
}

DeviceInfo unusable_device(const std::string& library, const char* platform, std::string failure) {
  log::debug(formatted("{} is skipped: {}", library, failure));
  DeviceInfo device;
  device.name = library;
  device.platform = platform;
  device.unusable = std::move(failure);
  return device;
}

// `platform_name` is that of the libraries' platform, as far as it is known without loading them.
DeviceCatalog::Source source_of(const std::vector<std::string>& libraries,
                                const char* platform_name, PastAnswers past) {
  return [&libraries, platform_name, past] {
    std::vector<DeviceInfo> found;
    std::vector<cl_platform_id> known;
    for (const std::string& library : libraries) {
      if (std::string failure = vendor_probes().failure_of(library, past); !failure.empty()) {
        found.push_back(unusable_device(library, platform_name, std::move(failure)));
        continue;
      }
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

const std::vector<DeviceInfo>& DeviceCatalog::find_all() {
  while (!complete())
    find_more();
  return devices_;
}

DeviceCatalog device_catalog(PastAnswers past) {
  const Vendors& vendors = installed_vendors();
  if (vendors.libraries.empty() && vendors.late.empty()) return DeviceCatalog({});
  if (address_space_limit() < space_for_opencl) {
    log::warn_of_fallback(
        "the address space is limited to less than 1 GiB (ulimit -v), which is too little for "
        "OpenCL; no device is used");
    return DeviceCatalog({});
  }
  if (!vendors.late.empty()) prepare_pocl_environment();
  std::vector<DeviceCatalog::Source> sources;
  if (!vendors.libraries.empty()) sources.push_back(source_of(vendors.libraries, "", past));
  if (!vendors.late.empty()) sources.push_back(source_of(vendors.late, pocl_platform, past));
  return DeviceCatalog(std::move(sources));
}

std::vector<DeviceInfo> discover_devices() {
  std::vector<DeviceInfo> usable = device_catalog().find_all();
  std::erase_if(usable, [](const DeviceInfo& device) { return !device.unusable.empty(); });
  return usable;
}

}  // namespace gpufilter

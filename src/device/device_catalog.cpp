#include "device/device_catalog.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "base/format.hpp"
#include "base/log.hpp"
#include "base/threads.hpp"
#include "device/device_info.hpp"
#include "device/pocl_environment.hpp"
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

// `platform_name` is that of the libraries' platform, as far as it is known without loading them.
std::vector<DeviceInfo> devices_in(const std::vector<std::string>& libraries,
                                   const char* platform_name, PastAnswers past) {
  std::vector<DeviceInfo> found;
  std::set<cl_platform_id> known;  // two files may name one library
  for (const std::string& library : libraries) {
    const std::string failure = vendor_probes().failure_of(library, past);
    if (failure.empty()) {
      for (cl_platform_id platform : platforms_of(library)) {
        if (known.insert(platform).second) add_devices(platform, found);
      }
    } else {
      log::debug(formatted("{} is skipped: {}", library, failure));
      DeviceInfo& device = found.emplace_back();
      device.name = library;
      device.platform = platform_name;
      device.unusable = failure;
    }
  }
  return found;
}

// Finds devices, by one thread of this process at a time, and once if there are any: PoCL has no
// devices or crashes if a second thread enters it before the first has returned.
std::vector<DeviceInfo> known_devices_in(const std::vector<std::string>& libraries,
                                         const char* platform_name, PastAnswers past) {
  using Known = std::map<std::vector<std::string>, std::vector<DeviceInfo>>;
  // Never destroyed: threads that start a device may still run when the process ends.
  static Known& known = *new Known;  // NOLINT
  static std::mutex searching;
  const std::lock_guard lock(searching);
  std::vector<DeviceInfo>& devices = known[libraries];
  if (devices.empty()) devices = devices_in(libraries, platform_name, past);
  return devices;
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
  return DeviceCatalog(
      {[&vendors, past] { return known_devices_in(vendors.libraries, "", past); },
       [&vendors, past] { return known_devices_in(vendors.late, pocl_platform, past); }});
}

std::vector<DeviceInfo> discover_devices() {
  std::vector<DeviceInfo> usable = device_catalog().find_all();
  std::erase_if(usable, [](const DeviceInfo& device) { return !device.unusable.empty(); });
  return usable;
}

}  // namespace gpufilter

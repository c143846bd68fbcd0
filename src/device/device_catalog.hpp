// The OpenCL devices of this machine, searched for only as far as requested.
#pragma once

#include <functional>
#include <vector>

#include "device/device_info.hpp"
#include "device/vendor_probes.hpp"

namespace gpufilter {

// Not thread-safe.
class DeviceCatalog {
 public:
  using Source = std::function<std::vector<DeviceInfo>()>;

  // Devices are numbered in the order of their sources, each of which is queried at most once.
  explicit DeviceCatalog(std::vector<Source> sources) : sources_(std::move(sources)) {}

  // The devices found so far. A device's index does not depend on how far the search went.
  [[nodiscard]] const std::vector<DeviceInfo>& devices() const { return devices_; }
  // Whether these are all.
  [[nodiscard]] bool complete() const { return asked_ == sources_.size(); }
  // Queries the next source.
  void find_more();
  // Queries all of them.
  const std::vector<DeviceInfo>& find_all();

 private:
  std::vector<Source> sources_;
  std::size_t asked_ = 0;
  std::vector<DeviceInfo> devices_;
};

// The devices of this machine: first all platforms except PoCL, which takes long to load, then
// PoCL. A platform is loaded only on request, and only if it does not crash the process: see
// VendorProbes. Instead of the devices of a vendor that does, there is one that says why it must
// not be used. Changes environment variables: call this before other threads are started. A
// platform that fails with an error is skipped. Debug lines in the log name both.
[[nodiscard]] DeviceCatalog device_catalog(PastAnswers past = PastAnswers::used);

// All usable devices of this machine; empty if there is no OpenCL at all.
[[nodiscard]] std::vector<DeviceInfo> discover_devices();

}  // namespace gpufilter

// The OpenCL devices of this machine, found as far as they are asked for.
#pragma once

#include <functional>
#include <vector>

#include "device/device_info.hpp"
#include "device/vendor_checks.hpp"

namespace gpufilter {

// Not for use by two threads at a time.
class DeviceCatalog {
 public:
  using Source = std::function<std::vector<DeviceInfo>()>;

  // Devices are numbered in the order of their sources, each of which is asked at most once.
  explicit DeviceCatalog(std::vector<Source> sources) : sources_(std::move(sources)) {}

  // Those found so far. A device's index does not depend on how far that is.
  [[nodiscard]] const std::vector<DeviceInfo>& devices() const { return devices_; }
  // Whether these are all.
  [[nodiscard]] bool complete() const { return asked_ == sources_.size(); }
  // Asks the next source.
  void find_more();

 private:
  std::vector<Source> sources_;
  std::size_t asked_ = 0;
  std::vector<DeviceInfo> devices_;
};

// Of this machine: first all platforms but PoCL, which takes long to load, then PoCL. Nothing is
// loaded before it is asked for, and nothing that ends the process: see VendorChecks. In place of
// such a vendor's devices there is one that says why it must not be used. Changes the environment
// and may fork: to be called before other threads are started. A platform that fails with an error
// is skipped. Both are named in the log's debug lines.
[[nodiscard]] DeviceCatalog device_catalog(PastAnswers past = PastAnswers::used);

// All that may be used, at once; empty where there is no OpenCL at all.
[[nodiscard]] std::vector<DeviceInfo> discover_devices();

}  // namespace gpufilter

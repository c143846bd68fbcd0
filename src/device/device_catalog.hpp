// The OpenCL devices of this machine, found as far as somebody asks.
#pragma once

#include <functional>
#include <vector>

#include "device/device_info.hpp"

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
// loaded before it is asked for. Changes the environment: to be called before other threads are
// started. A platform that fails is passed over, with a line in the log.
[[nodiscard]] DeviceCatalog device_catalog();

// All of them at once; empty where there is no OpenCL at all.
[[nodiscard]] std::vector<DeviceInfo> discover_devices();

}  // namespace gpufilter

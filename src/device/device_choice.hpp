// Which device a run uses, and why.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/device_info.hpp"

namespace gpufilter {

struct DeviceCandidate {
  std::optional<DeviceInfo> device;  // nothing: the C++ reference
  std::string reason;                // "the first GPU", "asked for by index", ...
};

// The devices to try for `request`, best first: auto | gpu | cpu | all | reference | an index |
// part of a name (of the device or its platform, in any case). auto: GPUs, CPUs, others, and the
// reference at last unless `require_device`; all: likewise, as there has to be a device. Throws
// DeviceError where nothing fits, naming what there is, and UsageError where a device is required
// and the reference asked for.
[[nodiscard]] std::vector<DeviceCandidate> choose_devices(std::string_view request,
                                                          bool require_device,
                                                          const std::vector<DeviceInfo>& devices);

}  // namespace gpufilter

// Failures of devices after which a run goes on in a particular way.
#pragma once

#include <gpufilter/error.hpp>

namespace gpufilter {

// A device lacks memory: lower bands, or fewer at a time, may fit.
class OutOfDeviceMemory : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

// A device did not end a command in time. It may still use the command's memory, the host's too, so
// that must never be freed.
class DeviceHangs : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

}  // namespace gpufilter

// The OpenCL devices of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gpufilter/path_name.hpp>

namespace gpufilter {

// An OpenCL device. The processor needs no OpenCL and is not one of them.
struct Device {
  int index = 0;                     // what FilterSettings::device takes
  std::string name;                  // "NVIDIA H200"; FilterSettings::device takes a part of it
  std::string kind;                  // "gpu", "cpu" or "other"
  std::string vendor;                // of the device
  std::string platform;              // OpenCL's name for the driver
  std::string platform_version;      // the version of OpenCL there
  std::string driver_version;        // of the device's driver
  unsigned compute_units = 0;        // cores or multiprocessors
  std::uint64_t memory = 0;          // bytes
  std::uint64_t max_allocation = 0;  // bytes of one buffer
  bool unified_memory = false;       // shared with the processor
  std::string unusable;              // why it is not used; empty if it can be
};

// All devices; each call searches again. A driver is first tried in another process, where it may
// crash without harm; see answer_probes(). Thread-safe.
[[nodiscard]] std::vector<Device> devices();

// Call it first in main(): this program may then be started again, as a separate process, to probe
// an OpenCL driver, which may crash there without harm. Does not return in such a process, and does
// nothing in others. Programs without this call need the program "gpufilter" of the same version in
// PATH; without that either, no OpenCL device is used, and the processor does the work.
void answer_probes(int argc, const char* const* argv);

// The program "gpufilter" that probes drivers for programs without answer_probes(), instead of the
// one in PATH. Call it before the first filter is made. Thread-safe.
void set_probe_program(const PathName& path);

}  // namespace gpufilter

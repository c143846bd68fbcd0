// An OpenCL device of this machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace gpufilter {

// An OpenCL version text without the build options that PoCL appends to it after two spaces.
[[nodiscard]] inline std::string brief_version(const std::string& text) {
  return text.substr(0, text.find("  "));
}

enum class DeviceKind { gpu, cpu, other };
[[nodiscard]] const char* to_string(DeviceKind kind);

struct DeviceHandle;  // OpenCL's object, defined only in this folder

struct DeviceInfo {
  int index = 0;  // position in the list, which --device accepts
  DeviceKind kind = DeviceKind::other;
  std::string name;
  std::string vendor;
  std::string platform;
  std::string platform_version;
  std::string device_version;
  std::string driver_version;
  std::string language_version;  // of OpenCL C
  unsigned compute_units = 0;
  std::size_t max_work_group_size = 0;  // work-items
  std::array<std::size_t, 3> max_work_item_sizes{};
  std::size_t preferred_multiple = 0;  // of work-items in a work-group; 0: unknown
  unsigned max_sub_groups = 0;         // in a work-group; 0: no sub-groups
  unsigned compute_capability = 0;     // NVIDIA's, 90 for 9.0; 0: another vendor's device
  std::uint64_t local_memory = 0;      // bytes per work-group
  bool local_memory_is_real = false;   // on the chip; false: a part of global memory
  std::uint64_t global_memory = 0;     // bytes
  std::uint64_t max_allocation = 0;    // bytes per buffer
  bool unified_memory = false;         // shares the host's memory
  // Why the device must not be used; empty if it may. Such an entry represents all devices of a
  // vendor whose library crashes the process. Its name is the library's; nothing else is known.
  std::string unusable;
  std::shared_ptr<const DeviceHandle> handle;

  // Whether a work-group of width x height work-items with `bytes` of local memory can run.
  [[nodiscard]] bool fits(std::size_t width, std::size_t height, std::uint64_t bytes) const;
};

}  // namespace gpufilter

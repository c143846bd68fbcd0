#include "device/device_info.hpp"

#include <array>
#include <optional>

#include "device/opencl.hpp"

namespace gpufilter {
namespace {

// Values that a device of an older OpenCL does not have are 0. Queried in C, because the C++ header
// throws for them.
template <typename Value>
Value query(const cl::Device& device, cl_device_info what) {
  Value value{};
  if (clGetDeviceInfo(device(), what, sizeof(value), &value, nullptr) != CL_SUCCESS) value = {};
  return value;
}

std::string query_text(const cl::Device& device, cl_device_info what) {
  std::size_t size = 0;
  if (clGetDeviceInfo(device(), what, 0, nullptr, &size) != CL_SUCCESS) return "?";
  std::string text(size, '\0');
  if (clGetDeviceInfo(device(), what, size, text.data(), nullptr) != CL_SUCCESS) return "?";
  // The text ends with a zero; some drivers also pad their texts.
  const auto last = text.find_last_not_of(std::string_view(" \t\n\0", 4));
  return last == std::string::npos ? "?" : text.substr(0, last + 1);
}

DeviceKind kind_of(const cl::Device& device) {
  const auto type = query<cl_device_type>(device, CL_DEVICE_TYPE);
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return DeviceKind::gpu;
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return DeviceKind::cpu;
  return DeviceKind::other;
}

// From cl_nv_device_attribute_query, whose header is not always installed.
constexpr cl_device_info compute_capability_major = 0x4000;
constexpr cl_device_info compute_capability_minor = 0x4001;

}  // namespace

const char* to_string(DeviceKind kind) {
  static constexpr std::array names{"gpu", "cpu", "other"};
  return names.at(static_cast<std::size_t>(kind));
}

bool DeviceInfo::fits(std::size_t width, std::size_t height, std::uint64_t bytes) const {
  return width * height <= max_work_group_size && width <= max_work_item_sizes[0] &&
         height <= max_work_item_sizes[1] && bytes <= local_memory;
}

std::optional<DeviceInfo> describe(cl_platform_id platform, const cl::Device& device) {
  if (query<cl_bool>(device, CL_DEVICE_AVAILABLE) != CL_TRUE ||
      query<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) != CL_TRUE) {
    return std::nullopt;
  }
  DeviceInfo info;
  info.kind = kind_of(device);
  info.name = query_text(device, CL_DEVICE_NAME);
  info.vendor = query_text(device, CL_DEVICE_VENDOR);
  info.platform = platform_text(platform, CL_PLATFORM_NAME);
  info.platform_version = platform_text(platform, CL_PLATFORM_VERSION);
  info.device_version = query_text(device, CL_DEVICE_VERSION);
  info.driver_version = query_text(device, CL_DRIVER_VERSION);
  info.language_version = query_text(device, CL_DEVICE_OPENCL_C_VERSION);
  info.compute_units = query<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  info.max_work_group_size = query<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  const auto sizes = device.getInfo<CL_DEVICE_MAX_WORK_ITEM_SIZES>();
  for (std::size_t i = 0; i < info.max_work_item_sizes.size() && i < sizes.size(); ++i) {
    info.max_work_item_sizes[i] = sizes[i];
  }
  info.preferred_multiple =
      query<std::size_t>(device, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
  info.max_sub_groups = query<cl_uint>(device, CL_DEVICE_MAX_NUM_SUB_GROUPS);
  if (info.vendor.find("NVIDIA") != std::string::npos) {
    info.compute_capability = 10 * query<cl_uint>(device, compute_capability_major) +
                              query<cl_uint>(device, compute_capability_minor);
  }
  info.local_memory = query<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  info.local_memory_is_real =
      query<cl_device_local_mem_type>(device, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL;
  info.global_memory = query<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  info.max_allocation = query<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  info.unified_memory = query<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE;
  info.handle = std::make_shared<const DeviceHandle>(DeviceHandle{device});
  return info;
}

}  // namespace gpufilter

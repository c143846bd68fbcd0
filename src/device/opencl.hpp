// OpenCL's C++ header, configured once, only for the files of this folder, and the OpenCL
// implementations ("vendors") of this machine. A loader would load all of them at its first call,
// and PoCL loads LLVM, which takes longer than filtering a small picture. So they are found and
// loaded here, one by one. OpenCL objects carry their functions, so no loader is linked: see
// opencl_calls.cpp. See docs/engineering/decisions/0005.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wignored-attributes"
#include <CL/opencl.hpp>
#pragma GCC diagnostic pop
#include <CL/cl_icd.h>

#include "device/device_info.hpp"

namespace gpufilter {

// "CL_OUT_OF_RESOURCES (-5)"; only the number if the code has no name here.
[[nodiscard]] std::string opencl_error_text(int code);

// Throws DeviceError "DEVICE: WHAT failed: CL_..." unless `code` is CL_SUCCESS; OutOfDeviceMemory
// if memory lacks.
void check_opencl(int code, std::string_view device, std::string_view what);
// For calls that allocate, where CL_OUT_OF_RESOURCES also means that memory lacks.
void check_allocation(int code, std::string_view device, std::string_view what);

struct DeviceHandle {
  cl::Device device;
};

// Nothing if the device is not available or has no compiler. The index stays 0. Throws cl::Error.
[[nodiscard]] std::optional<DeviceInfo> describe(cl_platform_id platform, const cl::Device& device);

struct Vendors {
  std::vector<std::string> libraries;  // as dlopen() takes them
  std::vector<std::string> late;       // loaded only if the others are not enough: PoCL
};

// The vendors that the environment names (OCL_ICD_VENDORS, OCL_ICD_FILENAMES, OPENCL_VENDOR_PATH,
// as ocl-icd and the Khronos loader read them), otherwise the vendors in /etc/OpenCL/vendors,
// sorted by the names of their .icd files. Nothing is loaded. Later calls return the
// same.
[[nodiscard]] const Vendors& installed_vendors();

// Loads a vendor's library permanently and returns its platforms; none, with a line in the log, if
// it cannot be loaded or is not an OpenCL vendor's. A library may crash the process here: see
// VendorProbes.
[[nodiscard]] std::vector<cl_platform_id> platforms_of(const std::string& library);

// The devices and a text of a platform from platforms_of(), and a context on a device. The first
// two throw cl::Error; the last one returns nullptr and sets `code`.
[[nodiscard]] std::vector<cl_device_id> devices_of(cl_platform_id platform);
[[nodiscard]] std::string platform_text(cl_platform_id platform, cl_platform_info which);
[[nodiscard]] cl_context make_context(cl_device_id device, cl_int& code);

// The functions of the library that an object belongs to. Every object begins with a pointer to
// them: the extension cl_khr_icd.
template <typename Object>
[[nodiscard]] const cl_icd_dispatch& opencl_functions_of(Object object) {
  return **reinterpret_cast<const cl_icd_dispatch* const*>(object);
}

}  // namespace gpufilter

#include "device/opencl.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include <dlfcn.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "device/device_error.hpp"

namespace gpufilter {
namespace {

// The error codes that occur at run time, from the specification.
constexpr std::array error_names{
    std::pair{CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
    std::pair{CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
    std::pair{CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
    std::pair{CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    std::pair{CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
    std::pair{CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
    std::pair{CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    std::pair{CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
    std::pair{CL_MAP_FAILURE, "CL_MAP_FAILURE"},
    std::pair{CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
              "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    std::pair{CL_INVALID_VALUE, "CL_INVALID_VALUE"},
    std::pair{CL_INVALID_DEVICE, "CL_INVALID_DEVICE"},
    std::pair{CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
    std::pair{CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
    std::pair{CL_INVALID_BINARY, "CL_INVALID_BINARY"},
    std::pair{CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS"},
    std::pair{CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE"},
    std::pair{CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
    std::pair{CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX"},
    std::pair{CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
    std::pair{CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
    std::pair{CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
    std::pair{CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE"},
    std::pair{CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
};

}  // namespace

std::string opencl_error_text(int code) {
  for (const auto& [known, name] : error_names) {
    if (known == code) return formatted("{} ({})", name, code);
  }
  return formatted("OpenCL error {}", code);
}

void check_opencl(int code, std::string_view device, std::string_view what) {
  if (code == CL_SUCCESS) return;
  const std::string line = formatted("{}: {} failed: {}", device, what, opencl_error_text(code));
  if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY)
    throw OutOfDeviceMemory(line);
  throw DeviceError(line);
}

void check_allocation(int code, std::string_view device, std::string_view what) {
  try {
    check_opencl(code, device, what);
  } catch (const DeviceError& error) {
    if (code == CL_OUT_OF_RESOURCES) throw OutOfDeviceMemory(error.what());
    throw;
  }
}

namespace {

namespace fs = std::filesystem;

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

void add(Vendors& vendors, const std::string& library, const std::string& file = "") {
  const bool is_late = (library + file).find("pocl") != std::string::npos;
  if (!library.empty()) (is_late ? vendors.late : vendors.libraries).push_back(library);
}

// The first line of an .icd file names the library.
void add_file(Vendors& vendors, const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  line.erase(line.find_last_not_of(" \t\r\n") + 1);
  add(vendors, line, file.filename());
}

void add_folder(Vendors& vendors, const fs::path& folder) {
  std::set<fs::path> files;  // sorted, so that devices keep their indices
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".icd") files.insert(entry.path());
  }
  for (const fs::path& file : files)
    add_file(vendors, file);
}

Vendors read_environment() {
  Vendors vendors;
  std::istringstream libraries(environment("OCL_ICD_FILENAMES"));
  for (std::string library; std::getline(libraries, library, ':');)
    add(vendors, library);
  const std::string wanted = environment("OCL_ICD_VENDORS");
  std::string folder = environment("OPENCL_VENDOR_PATH");
  if (folder.empty()) folder = "/etc/OpenCL/vendors";
  std::error_code ignored;
  if (wanted.empty()) {
    add_folder(vendors, folder);
  } else if (fs::is_directory(wanted, ignored)) {
    add_folder(vendors, wanted);
  } else if (wanted.ends_with(".icd")) {
    const fs::path usual = fs::path(folder) / wanted;
    const bool plain = wanted.find('/') == std::string::npos;
    add_file(vendors, plain && fs::exists(usual, ignored) ? usual : fs::path(wanted));
  } else {
    add(vendors, wanted);
  }
  return vendors;
}

}  // namespace

const Vendors& installed_vendors() {
  static const Vendors vendors = read_environment();
  return vendors;
}

std::vector<cl_platform_id> platforms_of(const std::string& library) {
  // RTLD_LOCAL: libraries do not see each other's functions, as with other loaders.
  void* handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    log::debug(formatted("an OpenCL vendor cannot be loaded: {}", dlerror()));
    return {};
  }
  using FunctionAddress = void* (*)(const char*);
  const auto address =
      reinterpret_cast<FunctionAddress>(dlsym(handle, "clGetExtensionFunctionAddress"));
  void* function = address == nullptr ? nullptr : address("clIcdGetPlatformIDsKHR");
  if (function == nullptr) function = dlsym(handle, "clIcdGetPlatformIDsKHR");
  const auto platform_ids = reinterpret_cast<decltype(&clGetPlatformIDs)>(function);
  cl_uint count = 0;
  if (platform_ids == nullptr || platform_ids(0, nullptr, &count) != CL_SUCCESS || count == 0) {
    log::debug(formatted("{}: offers no OpenCL platform", library));
    return {};
  }
  std::vector<cl_platform_id> platforms(count);
  if (platform_ids(count, platforms.data(), nullptr) != CL_SUCCESS) platforms.clear();
  return platforms;
}

std::vector<cl_device_id> devices_of(cl_platform_id platform) {
  const auto get = opencl_functions_of(platform).clGetDeviceIDs;
  cl_uint count = 0;
  const int code = get(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  if (code == CL_DEVICE_NOT_FOUND || count == 0) return {};
  std::vector<cl_device_id> devices(count);
  const int got =
      code == CL_SUCCESS ? get(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr) : code;
  if (got != CL_SUCCESS) throw cl::Error(got, "clGetDeviceIDs");
  return devices;
}

std::string platform_text(cl_platform_id platform, cl_platform_info which) {
  const auto get = opencl_functions_of(platform).clGetPlatformInfo;
  std::size_t size = 0;
  int code = get(platform, which, 0, nullptr, &size);
  std::string text(size, '\0');
  if (code == CL_SUCCESS) code = get(platform, which, size, text.data(), nullptr);
  if (code != CL_SUCCESS) throw cl::Error(code, "clGetPlatformInfo");
  return text.substr(0, text.find('\0'));
}

cl_context make_context(cl_device_id device, cl_int& code) {
  return opencl_functions_of(device).clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
}

}  // namespace gpufilter

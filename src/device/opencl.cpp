#include "device/opencl.hpp"

#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"

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
  throw DeviceError(formatted("{}: {} failed: {}", device, what, opencl_error_text(code)));
}

}  // namespace gpufilter

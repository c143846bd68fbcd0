// An OpenCL vendor without a real OpenCL implementation: one platform, with FAKE_VENDOR_GPU (at
// most four) GPUs that do not start. It adds a line to the file named by FAKE_VENDOR_LOG when it is
// asked for its platforms and when the process ends, which says whether PoCL is loaded.
// FAKE_VENDOR_FAILS holds a moment (load, platforms, devices, context, launch) and how the process
// fails then (abort, crash, exit, hang, close all files and hang, hold the log open and hang,
// kill), as in "context abort"; up to that moment the GPU works.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>

extern "C" {
struct _cl_platform_id {
  const cl_icd_dispatch* dispatch;
};
struct _cl_device_id {
  const cl_icd_dispatch* dispatch;
};
struct _cl_context {
  const cl_icd_dispatch* dispatch;
};
struct _cl_command_queue {
  const cl_icd_dispatch* dispatch;
};
struct _cl_program {
  const cl_icd_dispatch* dispatch;
};
struct _cl_kernel {
  const cl_icd_dispatch* dispatch;
};
struct _cl_mem {
  const cl_icd_dispatch* dispatch;
};
}

namespace {

extern const cl_icd_dispatch functions;
_cl_platform_id the_platform{&functions};
_cl_device_id the_devices[]{{&functions}, {&functions}, {&functions}, {&functions}};
_cl_context the_context{&functions};
_cl_command_queue the_queue{&functions};
_cl_program the_program{&functions};
_cl_kernel the_kernel{&functions};
_cl_mem the_buffer{&functions};

// The moment at which it fails; empty: none.
std::string failing_moment() {
  const char* failure = std::getenv("FAKE_VENDOR_FAILS");
  const std::string text = failure == nullptr ? "" : failure;
  return text.substr(0, text.find(' '));
}

int open_log() {
  const char* path = std::getenv("FAKE_VENDOR_LOG");
  return path == nullptr ? -1 : ::open(path, O_WRONLY | O_CLOEXEC);
}

void fail_at(const std::string& moment) {
  if (failing_moment() != moment) return;
  const std::string way = std::string(std::getenv("FAKE_VENDOR_FAILS")).substr(moment.size() + 1);
  std::fputs("the fake vendor fails\n", stderr);
  std::fflush(stderr);
  if (way == "abort") std::abort();
  if (way == "crash") std::raise(SIGSEGV);
  if (way == "exit") std::exit(0);
  if (way == "kill") std::raise(SIGKILL);
  if (way == "hold") static_cast<void>(!write(open_log(), "x", 1));
  for (int file = 0; way == "close" && file < 1024; ++file)
    ::close(file);
  while (way == "hang" || way == "close" || way == "hold")
    ::pause();
}

struct AtTheLoading {
  AtTheLoading() { fail_at("load"); }
} at_the_loading;

void log_moment(const char* moment) {
  const char* path = std::getenv("FAKE_VENDOR_LOG");
  if (path == nullptr) return;
  bool pocl = false;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    pocl = pocl || line.find("libpocl") != std::string::npos;
  std::ofstream(path, std::ios::app) << moment << (pocl ? ": PoCL is loaded\n" : ": no PoCL\n");
}

struct AtTheEnd {
  ~AtTheEnd() { log_moment("end"); }
} at_the_end;

cl_int answer(const void* value, std::size_t bytes, std::size_t size, void* target,
              std::size_t* needed) {
  if (needed != nullptr) *needed = bytes;
  if (target == nullptr) return CL_SUCCESS;
  if (size < bytes) return CL_INVALID_VALUE;
  std::memcpy(target, value, bytes);
  return CL_SUCCESS;
}

cl_int answer_text(const char* text, std::size_t size, void* target, std::size_t* needed) {
  return answer(text, std::strlen(text) + 1, size, target, needed);
}

cl_int CL_API_CALL platform_ids(cl_uint count, cl_platform_id* platforms, cl_uint* found) {
  if (platforms == nullptr) log_moment("asked");
  fail_at("platforms");
  if (found != nullptr) *found = 1;
  if (platforms != nullptr && count > 0) platforms[0] = &the_platform;
  return CL_SUCCESS;
}

cl_int CL_API_CALL platform_info(cl_platform_id, cl_platform_info what, std::size_t size,
                                 void* target, std::size_t* needed) {
  if (what == CL_PLATFORM_VERSION) return answer_text("OpenCL 3.0 fake", size, target, needed);
  if (what == CL_PLATFORM_EXTENSIONS) return answer_text("cl_khr_icd", size, target, needed);
  return answer_text("fake", size, target, needed);
}

cl_int CL_API_CALL device_ids(cl_platform_id, cl_device_type type, cl_uint count,
                              cl_device_id* devices, cl_uint* found) {
  fail_at("devices");
  const char* text = std::getenv("FAKE_VENDOR_GPU");
  const cl_uint gpus = text == nullptr ? 0 : std::min(static_cast<cl_uint>(std::atoi(text)), 4U);
  if (gpus == 0 || (type & CL_DEVICE_TYPE_GPU) == 0) return CL_DEVICE_NOT_FOUND;
  if (found != nullptr) *found = gpus;
  for (cl_uint i = 0; devices != nullptr && i < std::min(count, gpus); ++i)
    devices[i] = &the_devices[i];
  return CL_SUCCESS;
}

cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, std::size_t size,
                               void* target, std::size_t* needed) {
  cl_platform_id platform = &the_platform;
  const cl_device_type gpu = CL_DEVICE_TYPE_GPU;
  const cl_bool yes = CL_TRUE;
  const cl_ulong memory = cl_ulong{1} << 30U;
  const std::size_t sizes[3] = {256, 256, 256};
  const cl_uint dimensions = 3;
  const char* names[] = {"Fake GPU", "Fake GPU 1", "Fake GPU 2", "Fake GPU 3"};
  switch (what) {
    case CL_DEVICE_TYPE:
      return answer(&gpu, sizeof gpu, size, target, needed);
    case CL_DEVICE_PLATFORM:
      return answer(&platform, sizeof(cl_platform_id), size, target, needed);
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
      return answer(&yes, sizeof yes, size, target, needed);
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
      return answer(&dimensions, sizeof dimensions, size, target, needed);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
      return answer(sizes, sizeof sizes, size, target, needed);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
      return answer(&memory, sizeof memory, size, target, needed);
    case CL_DEVICE_NAME:
      return answer_text(names[device - the_devices], size, target, needed);
    case CL_DEVICE_VERSION:
    case CL_DEVICE_VENDOR:
    case CL_DRIVER_VERSION:
    case CL_DEVICE_OPENCL_C_VERSION:
      return answer_text("OpenCL 3.0 fake", size, target, needed);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL count_device(cl_device_id) {
  return CL_SUCCESS;
}

cl_context CL_API_CALL create_context(const cl_context_properties*, cl_uint, const cl_device_id*,
                                      void(CL_CALLBACK*)(const char*, const void*, std::size_t,
                                                         void*),
                                      void*, cl_int* error) {
  fail_at("context");
  const bool works = failing_moment() == "launch";
  if (error != nullptr) *error = works ? CL_SUCCESS : CL_DEVICE_NOT_AVAILABLE;
  return works ? &the_context : nullptr;
}

cl_command_queue CL_API_CALL create_queue(cl_context, cl_device_id, const cl_queue_properties*,
                                          cl_int* error) {
  if (error != nullptr) *error = CL_SUCCESS;
  return &the_queue;
}

cl_program CL_API_CALL create_program(cl_context, cl_uint, const char**, const std::size_t*,
                                      cl_int* error) {
  if (error != nullptr) *error = CL_SUCCESS;
  return &the_program;
}

cl_int CL_API_CALL build_program(cl_program, cl_uint, const cl_device_id*, const char*,
                                 void(CL_CALLBACK*)(cl_program, void*), void*) {
  return CL_SUCCESS;
}

cl_kernel CL_API_CALL create_kernel(cl_program, const char*, cl_int* error) {
  if (error != nullptr) *error = CL_SUCCESS;
  return &the_kernel;
}

cl_mem CL_API_CALL create_buffer(cl_context, cl_mem_flags, std::size_t, void*, cl_int* error) {
  if (error != nullptr) *error = CL_SUCCESS;
  return &the_buffer;
}

cl_int CL_API_CALL write_buffer(cl_command_queue, cl_mem, cl_bool, std::size_t, std::size_t,
                                const void*, cl_uint, const cl_event*, cl_event*) {
  return CL_SUCCESS;
}

cl_int CL_API_CALL set_argument(cl_kernel, cl_uint, std::size_t, const void*) {
  return CL_SUCCESS;
}

cl_int CL_API_CALL launch(cl_command_queue, cl_kernel, cl_uint, const std::size_t*,
                          const std::size_t*, const std::size_t*, cl_uint, const cl_event*,
                          cl_event*) {
  fail_at("launch");
  return CL_INVALID_KERNEL;
}

cl_icd_dispatch make_functions() {
  cl_icd_dispatch made{};
  made.clGetPlatformInfo = platform_info;
  made.clGetDeviceIDs = device_ids;
  made.clGetDeviceInfo = device_info;
  made.clRetainDevice = count_device;
  made.clReleaseDevice = count_device;
  made.clCreateContext = create_context;
  made.clCreateCommandQueueWithProperties = create_queue;
  made.clCreateProgramWithSource = create_program;
  made.clBuildProgram = build_program;
  made.clCreateKernel = create_kernel;
  made.clCreateBuffer = create_buffer;
  made.clEnqueueWriteBuffer = write_buffer;
  made.clSetKernelArg = set_argument;
  made.clEnqueueNDRangeKernel = launch;
  return made;
}

const cl_icd_dispatch functions = make_functions();

}  // namespace

extern "C" __attribute__((visibility("default"))) void* clGetExtensionFunctionAddress(
    const char* name) {
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
    return reinterpret_cast<void*>(platform_ids);
  return nullptr;
}

// PoCL as a GPU that fails: an OpenCL vendor whose functions are PoCL's until FAULTY_VENDOR says
// otherwise. That holds faults with ';' between them, each of three words: a function (context,
// queue, build, allocate, pin, map, write, read, launch, finish), the number of the first call that
// fails, with '+' if those after it fail too, and what happens: a negative number is returned as
// the error; hang (the command never begins), wrong (a bit of what is read is flipped), abort,
// signals (it takes SIGINT and SIGABRT for itself) or threads (it starts one that never ends).
// Nothing fails in the process that probes the vendor, unless FAULTY_VENDOR_PROBES is set.
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include <dlfcn.h>
#include <unistd.h>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>

namespace {

enum Function { context, queue, build, allocate, pin, map, write, read, launch, finish, functions };
constexpr std::array<const char*, functions> names{
    "context", "queue", "build", "allocate", "pin", "map", "write", "read", "launch", "finish"};

cl_icd_dispatch pocl;  // PoCL's own functions

bool is_probe() {
  std::ifstream words("/proc/self/cmdline");
  std::string text;
  std::getline(words, text);
  return text.find("answer-probe") != std::string::npos;
}

// What happens at this call of the function; empty: nothing.
std::string way_of(Function function) {
  static std::array<std::atomic<int>, functions> calls{};
  static const bool is_off = is_probe() && std::getenv("FAULTY_VENDOR_PROBES") == nullptr;
  const int call = ++calls[function];
  const char* all = std::getenv("FAULTY_VENDOR");
  std::istringstream faults(is_off || all == nullptr ? "" : all);
  for (std::string fault; std::getline(faults, fault, ';');) {
    std::istringstream words(fault);
    std::string name;
    std::string number;
    std::string way;
    words >> name >> number >> way;
    const int first = std::atoi(number.c_str());
    const bool lasts = number.find('+') != std::string::npos;
    if (name == names[function] && (lasts ? call >= first : call == first)) return way;
  }
  return "";
}

// The code to return instead of calling PoCL; CL_SUCCESS: call it.
cl_int failure(const std::string& way) {
  if (way == "abort") std::abort();
  if (way == "signals") {
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGABRT, SIG_IGN);
  }
  if (way == "threads") std::thread([] { pause(); }).detach();
  return way.starts_with('-') ? std::atoi(way.c_str()) : CL_SUCCESS;
}

// For functions that return an object and set an error.
bool fails(Function function, cl_int* error) {
  const cl_int code = failure(way_of(function));
  if (code != CL_SUCCESS && error != nullptr) *error = code;
  return code != CL_SUCCESS;
}

cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t size, void* target,
                               size_t* needed) {
  constexpr std::string_view name("Faulty GPU\0", 11);
  constexpr cl_device_type gpu = CL_DEVICE_TYPE_GPU;
  if (what != CL_DEVICE_NAME && what != CL_DEVICE_TYPE)
    return pocl.clGetDeviceInfo(device, what, size, target, needed);
  const void* value = what == CL_DEVICE_NAME ? static_cast<const void*>(name.data()) : &gpu;
  const size_t bytes = what == CL_DEVICE_NAME ? name.size() : sizeof gpu;
  if (needed != nullptr) *needed = bytes;
  if (target != nullptr) std::memcpy(target, value, bytes);
  return CL_SUCCESS;
}

cl_context CL_API_CALL create_context(
    const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
    void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* data, cl_int* error) {
  if (fails(context, error)) return nullptr;
  return pocl.clCreateContext(properties, count, devices, notify, data, error);
}

cl_command_queue CL_API_CALL create_queue(cl_context of, cl_device_id device,
                                          const cl_queue_properties* properties, cl_int* error) {
  if (fails(queue, error)) return nullptr;
  return pocl.clCreateCommandQueueWithProperties(of, device, properties, error);
}

cl_command_queue CL_API_CALL create_old_queue(cl_context of, cl_device_id device,
                                              cl_command_queue_properties properties,
                                              cl_int* error) {
  if (fails(queue, error)) return nullptr;
  return pocl.clCreateCommandQueue(of, device, properties, error);
}

cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                 const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                                 void* data) {
  const cl_int code = failure(way_of(build));
  if (code != CL_SUCCESS) return code;
  return pocl.clBuildProgram(program, count, devices, options, notify, data);
}

cl_mem CL_API_CALL create_buffer(cl_context of, cl_mem_flags flags, size_t size, void* host,
                                 cl_int* error) {
  if (fails((flags & CL_MEM_ALLOC_HOST_PTR) != 0 ? pin : allocate, error)) return nullptr;
  return pocl.clCreateBuffer(of, flags, size, host, error);
}

void* CL_API_CALL map_buffer(cl_command_queue on, cl_mem buffer, cl_bool blocking,
                             cl_map_flags flags, size_t offset, size_t size, cl_uint count,
                             const cl_event* events, cl_event* event, cl_int* error) {
  if (fails(map, error)) return nullptr;
  return pocl.clEnqueueMapBuffer(on, buffer, blocking, flags, offset, size, count, events, event,
                                 error);
}

cl_int CL_API_CALL write_buffer(cl_command_queue on, cl_mem buffer, cl_bool blocking, size_t offset,
                                size_t size, const void* data, cl_uint count,
                                const cl_event* events, cl_event* event) {
  const cl_int code = failure(way_of(write));
  if (code != CL_SUCCESS) return code;
  return pocl.clEnqueueWriteBuffer(on, buffer, blocking, offset, size, data, count, events, event);
}

cl_int CL_API_CALL read_buffer(cl_command_queue on, cl_mem buffer, cl_bool blocking, size_t offset,
                               size_t size, void* data, cl_uint count, const cl_event* events,
                               cl_event* event) {
  const std::string way = way_of(read);
  const cl_int code = failure(way);
  if (code != CL_SUCCESS) return code;
  const bool wrong = way == "wrong";
  const cl_int result = pocl.clEnqueueReadBuffer(on, buffer, wrong ? CL_TRUE : blocking, offset,
                                                 size, data, count, events, event);
  if (wrong) static_cast<unsigned char*>(data)[size / 2] ^= 1U;
  return result;
}

cl_int CL_API_CALL launch_kernel(cl_command_queue on, cl_kernel kernel, cl_uint dimensions,
                                 const size_t* offset, const size_t* global, const size_t* local,
                                 cl_uint count, const cl_event* events, cl_event* event) {
  const std::string way = way_of(launch);
  const cl_int code = failure(way);
  if (code != CL_SUCCESS) return code;
  if (way != "hang")
    return pocl.clEnqueueNDRangeKernel(on, kernel, dimensions, offset, global, local, count, events,
                                       event);
  cl_context of = nullptr;
  pocl.clGetCommandQueueInfo(on, CL_QUEUE_CONTEXT, sizeof of, &of, nullptr);
  cl_event never = pocl.clCreateUserEvent(of, nullptr);
  return pocl.clEnqueueNDRangeKernel(on, kernel, dimensions, offset, global, local, 1, &never,
                                     event);
}

cl_int CL_API_CALL finish_queue(cl_command_queue on) {
  const cl_int done = pocl.clFinish(on);
  const cl_int code = failure(way_of(finish));
  return code != CL_SUCCESS ? code : done;
}

// PoCL's objects all refer to one table of functions.
void replace_functions(cl_platform_id platform) {
  auto* table = *reinterpret_cast<cl_icd_dispatch**>(platform);
  pocl = *table;
  table->clGetDeviceInfo = device_info;
  table->clCreateContext = create_context;
  table->clCreateCommandQueueWithProperties = create_queue;
  table->clCreateCommandQueue = create_old_queue;
  table->clBuildProgram = build_program;
  table->clCreateBuffer = create_buffer;
  table->clEnqueueMapBuffer = map_buffer;
  table->clEnqueueWriteBuffer = write_buffer;
  table->clEnqueueReadBuffer = read_buffer;
  table->clEnqueueNDRangeKernel = launch_kernel;
  table->clFinish = finish_queue;
}

cl_int CL_API_CALL platform_ids(cl_uint count, cl_platform_id* platforms, cl_uint* found) {
  using Address = void* (*)(const char*);
  static const auto original = [] {
    void* library = dlopen("libpocl.so.2", RTLD_LAZY | RTLD_LOCAL);
    const auto address =
        library == nullptr
            ? nullptr
            : reinterpret_cast<Address>(dlsym(library, "clGetExtensionFunctionAddress"));
    return address == nullptr
               ? nullptr
               : reinterpret_cast<decltype(&clGetPlatformIDs)>(address("clIcdGetPlatformIDsKHR"));
  }();
  if (found != nullptr) *found = 0;
  if (original == nullptr) return -1001;  // CL_PLATFORM_NOT_FOUND_KHR
  const cl_int code = original(count, platforms, found);
  static bool replaced = false;
  if (code == CL_SUCCESS && platforms != nullptr && !replaced) {
    replaced = true;
    replace_functions(platforms[0]);
  }
  return code;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void* clGetExtensionFunctionAddress(
    const char* name) {
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
    return reinterpret_cast<void*>(platform_ids);
  return nullptr;
}

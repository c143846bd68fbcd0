#include "device/vendor_trial.hpp"

#include <array>
#include <cstdlib>
#include <string_view>

#include <link.h>

#include "device/describe.hpp"
#include "device/vendors.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t items = 64;

// Its work-items depend on each other, as those of real kernels do.
constexpr const char* source = R"(
kernel void reverse(global int* data, local int* copy) {
  const int i = get_local_id(0);
  copy[i] = data[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  data[i] = copy[get_local_size(0) - 1 - i];
}
)";

// A device's objects; each is null if it or one before it could not be created.
struct Objects {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_program program = nullptr;
  cl_kernel kernel = nullptr;
  cl_mem buffer = nullptr;
};

bool make_objects(cl_device_id device, const TrialNotes& notes, Objects& made) {
  cl_int code = CL_SUCCESS;
  notes.step("making a context");
  made.context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  if (made.context == nullptr) return false;
  notes.step("making a queue");
  made.queue = clCreateCommandQueueWithProperties(made.context, device, nullptr, &code);
  if (made.queue == nullptr) return false;
  notes.step("compiling a kernel");
  const char* text = source;
  made.program = clCreateProgramWithSource(made.context, 1, &text, nullptr, &code);
  if (made.program == nullptr) return false;
  if (clBuildProgram(made.program, 1, &device, "", nullptr, nullptr) != CL_SUCCESS) return false;
  made.kernel = clCreateKernel(made.program, "reverse", &code);
  if (made.kernel == nullptr) return false;
  made.buffer =
      clCreateBuffer(made.context, CL_MEM_READ_WRITE, items * sizeof(cl_int), nullptr, &code);
  return made.buffer != nullptr;
}

void use(cl_device_id device, const TrialNotes& notes) {
  Objects made;
  if (!make_objects(device, notes, made)) return;
  notes.step("running a kernel");
  std::array<cl_int, items> data{};
  constexpr std::size_t bytes = sizeof data;
  const std::size_t size = items;
  if (clEnqueueWriteBuffer(made.queue, made.buffer, CL_TRUE, 0, bytes, data.data(), 0, nullptr,
                           nullptr) != CL_SUCCESS ||
      clSetKernelArg(made.kernel, 0, sizeof(cl_mem), &made.buffer) != CL_SUCCESS ||
      clSetKernelArg(made.kernel, 1, bytes, nullptr) != CL_SUCCESS ||
      clEnqueueNDRangeKernel(made.queue, made.kernel, 1, nullptr, &size, &size, 0, nullptr,
                             nullptr) != CL_SUCCESS) {
    return;
  }
  // A failure of this, too, is left to the program to find.
  static_cast<void>(clEnqueueReadBuffer(made.queue, made.buffer, CL_TRUE, 0, bytes, data.data(), 0,
                                        nullptr, nullptr));
}

// Skips the kernels that PoCL has just compiled.
int note_file(dl_phdr_info* library, std::size_t, void* notes) {
  const std::string_view name = library->dlpi_name;
  const char* scratch = std::getenv("POCL_CACHE_DIR");
  const bool compiled = scratch != nullptr && name.starts_with(scratch);
  if (name.find('/') != std::string_view::npos && !compiled)
    static_cast<const TrialNotes*>(notes)->note(name);
  return 0;
}

}  // namespace

void try_vendor(const std::string& library, const TrialNotes& notes) {
  notes.step("loading it");
  for (cl_platform_id id : platforms_of(library)) {
    notes.step("looking for its devices");
    const cl::Platform platform(id);
    std::vector<cl::Device> devices;
    try {
      platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    } catch (const cl::Error&) {
      continue;
    }
    for (const cl::Device& device : devices) {
      notes.step("describing a device");
      if (describe(platform, device)) use(device(), notes);
    }
  }
  TrialNotes files = notes;
  dl_iterate_phdr(note_file, &files);
}

}  // namespace gpufilter

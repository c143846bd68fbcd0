#include <array>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include <gpufilter/devices.hpp>
#include <link.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/format.hpp"
#include "base/posix_file.hpp"
#include "base/thread_room.hpp"
#include "device/describe.hpp"
#include "device/probe_report.hpp"
#include "device/vendors.hpp"

namespace gpufilter {
namespace {

bool answers = false;

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

bool make_objects(cl_device_id device, const ProbeReporter& report, Objects& made) {
  cl_int code = CL_SUCCESS;
  report.step("making a context");
  made.context = make_context(device, code);
  if (made.context == nullptr) return false;
  report.step("making a queue");
  made.queue = clCreateCommandQueueWithProperties(made.context, device, nullptr, &code);
  if (made.queue == nullptr) return false;
  report.step("compiling a kernel");
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

void use(cl_device_id device, const ProbeReporter& report) {
  Objects made;
  if (!make_objects(device, report, made)) return;
  report.step("running a kernel");
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
int report_file(dl_phdr_info* library, std::size_t, void* report) {
  const std::string_view name = library->dlpi_name;
  const char* scratch = std::getenv("POCL_CACHE_DIR");
  const bool compiled = scratch != nullptr && name.starts_with(scratch);
  if (name.find('/') != std::string_view::npos && !compiled)
    static_cast<const ProbeReporter*>(report)->loaded(name);
  return 0;
}

// Failures with an error code are left to the program that uses the library. Releases nothing: the
// process is about to end.
void use_library(const std::string& library, const ProbeReporter& report) {
  report.step("loading it");
  for (cl_platform_id id : platforms_of(library)) {
    report.step("looking for its devices");
    std::vector<cl_device_id> devices;
    try {
      devices = devices_of(id);
    } catch (const cl::Error&) {
      continue;
    }
    for (cl_device_id device : devices) {
      report.step("describing a device");
      if (describe(id, cl::Device(device))) use(device, report);
    }
  }
}

[[noreturn]] void answer(const std::string& parent, const std::string& library) {
  ProbeReporter report;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (std::to_string(getppid()) != parent) _exit(0);  // it has already ended
  // One byte: no core file, and no program that collects them either (see core(5)).
  const rlimit no_core{1, 1};
  setrlimit(RLIMIT_CORE, &no_core);
  save_address_space();  // as the program that will use the library does
  report.begun();
  try {
    use_library(library, report);
  } catch (const std::exception&) {
    // The program can catch it too, so the library works.
  }
  dl_iterate_phdr(report_file, &report);
  report.ended();
  _exit(0);  // without the destructors of the library and of this program
}

}  // namespace

void ProbeReporter::send(char kind, std::string_view text) {
  const std::string part = kind + std::string(text) + '\0';
  write_fully(probe_file, {reinterpret_cast<const std::uint8_t*>(part.data()), part.size()});
}

ProbeReport parse_probe_report(std::string_view text) {
  ProbeReport report;
  for (std::size_t end = 0; (end = text.find('\0')) != std::string_view::npos;) {
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (part.starts_with('b')) report.begun = true;
    if (part.starts_with('s')) report.step = part.substr(1);
    if (part.starts_with('l')) report.files.emplace_back(part.substr(1));
    if (part.starts_with('e')) report.ended = true;
  }
  return report;
}

bool program_answers_probes() {
  return answers;
}

namespace {

struct ProbeProgram {
  std::mutex mutex;
  std::string path = "gpufilter";
};

ProbeProgram& named_program() {
  static ProbeProgram program;
  return program;
}

}  // namespace

std::string probe_program() {
  ProbeProgram& program = named_program();
  const std::lock_guard lock(program.mutex);
  return program.path;
}

void set_probe_program(const std::string& path) {
  ProbeProgram& program = named_program();
  const std::lock_guard lock(program.mutex);
  program.path = path;
}

void answer_probes(int argc, const char* const* argv) {
  answers = true;
  if (argc != 5 || argv[1] != std::string_view(probe_word)) return;
  if (argv[2] == std::string_view(GPUFILTER_VERSION)) answer(argv[3], argv[4]);
}

}  // namespace gpufilter

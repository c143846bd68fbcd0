#include <array>
#include <csignal>
#include <mutex>
#include <string>
#include <string_view>

#include <gpufilter/devices.hpp>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/posix_file.hpp"
#include "base/thread_room.hpp"
#include "device/describe.hpp"
#include "device/probe.hpp"
#include "device/vendors.hpp"

namespace gpufilter {
namespace {

bool answers = false;

// Its work-items depend on each other, as those of real kernels do.
constexpr const char* source = R"(
kernel void reverse(global int* data, local int* copy) {
  const int i = get_local_id(0);
  copy[i] = data[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  data[i] = copy[get_local_size(0) - 1 - i];
}
)";

void report(std::string_view line) {
  const std::string text = std::string(line) + '\n';
  write_fully(probe_file, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

void check(cl_int code) {
  if (code != CL_SUCCESS) throw cl::Error(code);
}

// Releases nothing: the process is about to end. Throws cl::Error.
void run_kernel(cl_device_id device) {
  cl_int code = CL_SUCCESS;
  report("making a context");
  cl_context context = make_context(device, code);
  check(code);
  report("making a queue");
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, nullptr, &code);
  check(code);
  report("compiling a kernel");
  const char* text = source;
  cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
  check(code);
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
  cl_kernel kernel = clCreateKernel(program, "reverse", &code);
  check(code);
  std::array<cl_int, 64> data{};
  constexpr std::size_t bytes = sizeof data;
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &code);
  check(code);
  report("running a kernel");
  const std::size_t items = data.size();
  check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, data.data(), 0, nullptr, nullptr));
  check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer));
  check(clSetKernelArg(kernel, 1, bytes, nullptr));
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &items, 0, nullptr, nullptr));
  check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, data.data(), 0, nullptr, nullptr));
}

// Calls what may throw. The program that uses the library handles errors; only what ends or
// blocks the process is for the probe to find.
template <typename Call>
void without_errors(const Call& call) {
  try {
    call();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
  }
}

void use_library(const std::string& library) {
  report("loading it");
  for (cl_platform_id platform : platforms_of(library)) {
    without_errors([&] {
      report("looking for its devices");
      for (cl_device_id device : devices_of(platform)) {
        report("describing a device");
        without_errors([&] {
          if (describe(platform, cl::Device(device))) run_kernel(device);
        });
      }
    });
  }
}

[[noreturn]] void answer(const std::string& parent, const std::string& library) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (std::to_string(getppid()) != parent) _exit(0);  // it has already ended
  // One byte: no core file, and no program that collects them either (see core(5)).
  const rlimit no_core{1, 1};
  setrlimit(RLIMIT_CORE, &no_core);
  save_address_space();  // as the program that will use the library does
  without_errors([&] { use_library(library); });
  report(probe_ended);
  _exit(0);  // without the destructors of the library and of this program
}

// The program for the probes of programs that do not answer them.
std::mutex program_mutex;
std::string& named_program() {
  static std::string path = "gpufilter";
  return path;
}

}  // namespace

bool program_answers_probes() {
  return answers;
}

std::string probe_program() {
  const std::lock_guard lock(program_mutex);
  return named_program();
}

void set_probe_program(const std::string& path) {
  const std::lock_guard lock(program_mutex);
  named_program() = path;
}

void answer_probes(int argc, const char* const* argv) {
  answers = true;
  if (argc != 5 || argv[1] != std::string_view(probe_word)) return;
  if (argv[2] == std::string_view(GPUFILTER_VERSION)) answer(argv[3], argv[4]);
}

}  // namespace gpufilter

#include "device/probe.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <system_error>

#include <gpufilter/devices.hpp>
#include <poll.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/threads.hpp"
#include "device/device_info.hpp"
#include "device/vendors.hpp"

namespace gpufilter {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int milliseconds_between_looks = 5;
constexpr std::size_t longest_quote = 120;

// The program to start. Without /proc, it is the name by which this one was started.
std::string program() {
  if (!program_answers_probes()) return probe_program();
  constexpr const char* own = "/proc/self/exe";
  if (access(own, X_OK) == 0) return own;
  const auto* name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));  // NOLINT
  return name == nullptr ? "" : name;
}

FileDescriptor file_in_memory() {
  FileDescriptor file(memfd_create("probe", MFD_CLOEXEC));
  if (!file) throw std::system_error(errno, std::generic_category());
  return file;
}

// What another process has written so far, up to a length that no report has.
std::string contents(const FileDescriptor& file) {
  std::string text(std::size_t{256} << 10U, '\0');
  text.resize(static_cast<std::size_t>(
      std::max<ssize_t>(pread(file.get(), text.data(), text.size(), 0), 0)));
  return text;
}

ProbeResult not_probed(const std::string& reason) {
  std::string failure = "it cannot be probed in a separate process: " + reason;
  if (!program_answers_probes()) {
    failure += formatted(
        " (this needs gpufilter {} in PATH, or a program that calls gpufilter::answer_probes)",
        GPUFILTER_VERSION);
  }
  return {failure, false};
}

// A process that probes.
class Probe {
 public:
  // Throws std::system_error.
  explicit Probe(const std::string& library) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    // In an order in which none replaces another before it is used, even if this process has no
    // standard streams.
    posix_spawn_file_actions_adddup2(&files, output_.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, report_.get(), probe_file);
    posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files, probe_file + 1);
    // A session of its own: the terminal's signals are not for it. It ends with this process.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    const std::string parent = std::to_string(getpid());
    const std::array<const char*, 6> arguments{"gpufilter",    probe_word,      GPUFILTER_VERSION,
                                               parent.c_str(), library.c_str(), nullptr};
    const int error = posix_spawnp(&child_, program().c_str(), &files, &attributes,
                                   const_cast<char* const*>(arguments.data()), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw std::system_error(error, std::generic_category());
  }
  // Gives up after a second: a driver may keep its process from being killed.
  ~Probe() {
    for (int tries = 0; tries < 200 && !over(); ++tries) {
      kill(child_, SIGKILL);
      poll(nullptr, 0, milliseconds_between_looks);
    }
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  [[nodiscard]] ProbeResult watch(std::chrono::milliseconds limit) {
    const Clock::time_point end = Clock::now() + limit;
    for (;;) {
      const bool is_late = Clock::now() >= end;
      const bool is_over = over();
      const std::string step = current_step();
      if (step == probe_ended) return {};  // a driver may keep its process from ending
      if (is_over) return after_end(step);
      if (is_late) {
        const double seconds = std::chrono::duration<double>(limit).count();
        return failed(step, formatted("no answer within {} s", seconds), true);
      }
      poll(nullptr, 0, milliseconds_between_looks);
    }
  }

 private:
  bool over() {
    if (!over_) {
      const pid_t ended = waitpid(child_, &status_, WNOHANG);
      over_ = ended != 0;
      status_known_ = ended == child_;  // otherwise someone else in this process has waited for it
    }
    return over_;
  }

  // Empty: it has not begun.
  [[nodiscard]] std::string current_step() const {
    std::string lines = contents(report_);
    if (!lines.empty()) lines.pop_back();
    return lines.substr(lines.rfind('\n') + 1);
  }

  [[nodiscard]] ProbeResult after_end(const std::string& step) const {
    if (step.empty() && !program_answers_probes())
      return not_probed("the gpufilter in PATH is another version");
    if (!status_known_) return failed(step, "it ended", false);
    if (WIFEXITED(status_)) return failed(step, formatted("exit({})", WEXITSTATUS(status_)), true);
    const int number = WTERMSIG(status_);
    constexpr std::array from_outside{SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    const bool own =
        std::find(from_outside.begin(), from_outside.end(), number) == from_outside.end();
    const char* name = sigabbrev_np(number);
    return failed(step, name == nullptr ? formatted("signal {}", number) : formatted("SIG{}", name),
                  own);
  }

  // Quotes the first line of its output.
  [[nodiscard]] ProbeResult failed(const std::string& step, const std::string& end,
                                   bool conclusive) const {
    std::string failure = "it failed when probed in a separate process: " + end;
    if (!step.empty()) failure += " while " + step;
    const std::string output = contents(output_);
    const std::size_t first = std::min(output.find_first_not_of(" \t\r\n"), output.size());
    const std::size_t last = std::min(output.find_first_of("\r\n", first), first + longest_quote);
    const std::string line = output.substr(first, last - first);
    if (!line.empty()) failure += formatted(" ('{}')", printable(line));
    return {failure, conclusive && !step.empty()};
  }

  FileDescriptor output_ = file_in_memory();
  FileDescriptor report_ = file_in_memory();
  pid_t child_ = -1;
  int status_ = 0;
  bool status_known_ = false;
  bool over_ = false;
};

}  // namespace

ProbeResult probe_library(const std::string& library, std::chrono::milliseconds limit) {
  try {
    return Probe(library).watch(limit);
  } catch (const std::system_error& error) {
    return not_probed("cannot start a process: " + describe_system_error(error.code().value()));
  }
}

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

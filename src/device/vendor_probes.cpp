#include "device/vendor_probes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <system_error>

#include <gpufilter/devices.hpp>
#include <linux/magic.h>
#include <poll.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/content_hash.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "base/threads.hpp"
#include "device/device_info.hpp"
#include "device/opencl.hpp"
#include "device/session.hpp"
#include "device/stores.hpp"

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

// The output of another process so far, limited to more than any report needs.
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
    // The probe has its own session, so that the terminal's signals do not reach it. It ends with
    // this process.
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

// The kernel's work-items depend on each other, as in real kernels.
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

void set_probe_program(const PathName& path) {
  const std::lock_guard lock(program_mutex);
  named_program() = path.text();
}

void answer_probes(int argc, const char* const* argv) {
  answers = true;
  if (argc != 5 || argv[1] != std::string_view(probe_word)) return;
  if (argv[2] == std::string_view(GPUFILTER_VERSION)) answer(argv[3], argv[4]);
}

namespace {

constexpr int usual_limit = 20;                 // seconds
constexpr double failure_lasts = 24 * 60 * 60;  // seconds
constexpr std::size_t answers_kept = 64;

bool is_mounted(const char* path, long magic) {
  struct statfs status {};
  return statfs(path, &status) == 0 && status.f_type == magic;
}

std::string remedy() {
  std::string first = "update, repair or remove its package";
  if (!is_mounted("/proc", PROC_SUPER_MAGIC)) first = "mount /proc, which many drivers need";
  if (!is_mounted("/sys", SYSFS_MAGIC)) first = "mount /sys, which many drivers need";
  return first + "; 'gpufilter devices' probes it again";
}

std::string boot() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string line;
  std::getline(file, line);
  return line;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::chrono::milliseconds limit_of_probes() {
  if (const auto limit = device_timeout()) return *limit;
  const std::string text = variable("GPUFILTER_PROBE_SECONDS");
  int seconds = usual_limit;
  if (!text.empty() && (!parse_whole(text, seconds) || seconds < 1)) {
    log::warn_of_fallback(
        formatted("GPUFILTER_PROBE_SECONDS={} is not a positive whole number; using {} s", text,
                  usual_limit));
    seconds = usual_limit;
  }
  return std::chrono::seconds(seconds);
}

// The failure that is kept under `key`; nothing if there is none that still holds.
std::optional<std::string> recall(const JsonCache& cache, const std::string& key) {
  const Json all = cache.read().value_or(Json());
  try {
    const Json& answer = all.at("answers").at(to_string(content_hash(key)));
    const std::string& failure = answer.at("failure").text();
    const double age = static_cast<double>(std::time(nullptr)) - answer.at("time").number();
    const bool expired = !failure.empty() && (age < 0 || age >= failure_lasts);
    return expired ? std::nullopt : std::optional(failure);
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

void keep(const JsonCache& cache, const std::string& key, const std::string& failure) {
  const Json all = cache.read().value_or(Json());
  Json answers = Json::object();
  if (const Json* kept = all.find("answers"); kept != nullptr && kept->is_object()) answers = *kept;
  while (answers.members().size() >= answers_kept)
    answers.members().erase(answers.members().begin());  // the oldest
  answers[to_string(content_hash(key))] = {{"failure", failure}, {"time", std::time(nullptr)}};
  const std::string reason = cache.write({{"answers", answers}});
  if (!reason.empty()) log::debug(formatted("the answer of a probe was not stored: {}", reason));
}

}  // namespace

std::string file_identity(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return path + " absent\n";
  return formatted("{} {}:{} {} {}.{}\n", path, status.st_dev, status.st_ino, status.st_size,
                   status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

// The cache of the dynamic loader changes when a package of libraries is installed or updated, and
// thus represents the libraries that this one needs.
std::string probe_key(const std::string& library) {
  return formatted("{}\n{}\n{}{}{}\n{}\n{}\n{}\n{}", GPUFILTER_VERSION, library,
                   file_identity(library), file_identity("/etc/ld.so.cache"), boot(),
                   is_mounted("/sys", SYSFS_MAGIC), is_mounted("/proc", PROC_SUPER_MAGIC),
                   variable("LD_LIBRARY_PATH"), variable("LD_PRELOAD"));
}

VendorProbes::VendorProbes(std::optional<std::filesystem::path> file, Probe probe)
    : cache_(std::move(file), "gpufilter-probes-2"), probe_(std::move(probe)) {}

std::string VendorProbes::failure_of(const std::string& library, PastAnswers past) {
  const std::lock_guard lock(mutex_);
  if (const auto known = known_.find(library); known != known_.end()) return known->second;
  const std::string key = probe_key(library);
  if (past == PastAnswers::used) {
    if (auto kept = recall(cache_, key)) return known_[library] = *kept;
  }
  const auto begin = std::chrono::steady_clock::now();
  ProbeResult result = probe_(library);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  log::debug(formatted("{} was probed in {:.0f} ms: {}", library, took.count(),
                       result.failure.empty() ? "it works" : result.failure));
  if (result.conclusive) {
    if (!result.failure.empty()) result.failure += "; " + remedy();
    keep(cache_, key, result.failure);
  } else if (auto kept = recall(cache_, key)) {
    result.failure = *kept;  // what an earlier probe found says more
  }
  return known_[library] = result.failure;
}

VendorProbes& vendor_probes() {
  // Never destroyed: a thread that starts a device may still use it when the process ends.
  static auto* const probes = new VendorProbes(  // NOLINT
      cache_path("probes.json"), [limit = limit_of_probes()](const std::string& library) {
        return probe_library(library, limit);
      });
  return *probes;
}

}  // namespace gpufilter

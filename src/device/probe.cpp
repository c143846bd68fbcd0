#include "device/probe.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/format.hpp"
#include "base/posix_file.hpp"
#include "base/printable.hpp"
#include "device/probe_report.hpp"

namespace gpufilter {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_quote = 120;

// The program to start. Without /proc, it is the name by which this one was started.
std::string program() {
  if (!program_answers_probes()) return probe_program();
  constexpr const char* own = "/proc/self/exe";
  if (access(own, X_OK) == 0) return own;
  const auto* name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return name == nullptr ? "" : name;
}

// A process that probes, its report and its output.
class Probe {
 public:
  explicit Probe(const std::string& library) {
    try {
      start(library);
    } catch (const std::system_error& error) {
      not_started_ = "cannot start a process: " + describe_system_error(error.code().value());
    }
  }
  // Gives up after a while: a driver may keep its process from being killed.
  ~Probe() {
    for (int tries = 0; tries < 200 && !over(); ++tries) {
      kill(child_, SIGKILL);
      poll(nullptr, 0, 5);
    }
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  [[nodiscard]] ProbeResult watch(std::chrono::milliseconds limit) {
    if (over_) return not_probed(not_started_);
    const Clock::time_point end = Clock::now() + limit;
    for (;;) {
      const bool is_late = Clock::now() >= end;
      const bool is_over = over();
      read_report();
      ProbeReport report = parse_probe_report(text_);
      if (report.ended) return {true, true, "", std::move(report.files)};
      if (is_over) return after_end(report);
      if (is_late) {
        const double seconds = std::chrono::duration<double>(limit).count();
        return failed(report.begun, formatted("no answer within {} s", seconds), report);
      }
      wait_a_moment();
    }
  }

 private:
  void start(const std::string& library) {
    const FileDescriptor reports = make_pipe();
    int output = memfd_create("probe", MFD_CLOEXEC);
    if (output < 0) output = open("/dev/null", O_RDWR | O_CLOEXEC);  // where that is forbidden
    output_ = behind_probe_file(output);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_adddup2(&files, output_.get(), stream);
    posix_spawn_file_actions_adddup2(&files, reports.get(), probe_file);
    posix_spawn_file_actions_addclosefrom_np(&files, probe_file + 1);
    // A session of its own: the terminal's signals are not for it. It ends with this process.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    std::array<std::string, 5> words{"gpufilter", probe_word, GPUFILTER_VERSION,
                                     std::to_string(getpid()), library};
    std::array<char*, 6> arguments{};
    std::transform(words.begin(), words.end(), arguments.begin(),
                   [](std::string& word) { return word.data(); });
    const int error =
        posix_spawnp(&child_, program().c_str(), &files, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw std::system_error(error, std::generic_category());
    over_ = false;
  }

  // Such that none of the child's files replaces it before it is used.
  static FileDescriptor behind_probe_file(int file) {
    const FileDescriptor low(file);
    const int high = low ? fcntl(file, F_DUPFD_CLOEXEC, probe_file + 1) : -1;
    if (high < 0) throw std::system_error(errno, std::generic_category());
    return FileDescriptor(high);
  }

  // Returns the end for the child.
  [[nodiscard]] FileDescriptor make_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
    report_.reset(ends[0]);
    fcntl(report_.get(), F_SETFL, O_NONBLOCK);
    return behind_probe_file(ends[1]);
  }

  bool over() {
    if (!over_) {
      const pid_t ended = waitpid(child_, &status_, WNOHANG);
      over_ = ended != 0;
      status_known_ = ended == child_;  // otherwise someone else in this process has waited for it
    }
    return over_;
  }

  // Its end is not a sure sign of the process's end: a driver's own processes may hold it open.
  void read_report() {
    std::array<char, 4096> buffer{};
    ssize_t size = 0;
    while ((size = read(report_.get(), buffer.data(), buffer.size())) > 0)
      text_.append(buffer.data(), static_cast<std::size_t>(size));
    if (size == 0) report_.reset();  // at its end, it would never let poll() wait
  }

  void wait_a_moment() const {
    pollfd polled{report_ ? report_.get() : -1, POLLIN, 0};
    poll(&polled, 1, report_ ? 20 : 1);
  }

  [[nodiscard]] ProbeResult after_end(const ProbeReport& report) const {
    if (!report.begun && !program_answers_probes())
      return not_probed("the gpufilter in PATH is another version");
    if (!status_known_) return failed(false, "it ended", report);
    if (WIFEXITED(status_))
      return failed(report.begun, formatted("exit({})", WEXITSTATUS(status_)), report);
    const int number = WTERMSIG(status_);
    constexpr std::array from_outside{SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    const bool own =
        std::find(from_outside.begin(), from_outside.end(), number) == from_outside.end();
    const char* name = sigabbrev_np(number);
    return failed(own && report.begun,
                  name == nullptr ? formatted("signal {}", number) : formatted("SIG{}", name),
                  report);
  }

  static ProbeResult not_probed(const std::string& reason) {
    const std::string needed =
        program_answers_probes() ? ""
                                 : formatted(
                                       " (this needs gpufilter {} in PATH, or a program that calls "
                                       "gpufilter::answer_probes)",
                                       GPUFILTER_VERSION);
    return {false,
            false,
            formatted("it cannot be probed in a separate process: {}{}", reason, needed),
            {}};
  }

  [[nodiscard]] ProbeResult failed(bool conclusive, const std::string& end,
                                   const ProbeReport& report) const {
    const std::string during = report.step.empty() ? "" : " while " + report.step;
    return {false,
            conclusive,
            formatted("it failed when probed in a separate process: {}{}{}", end, during,
                      quoted_output()),
            {}};
  }

  // The first line of its output; empty if there is none.
  [[nodiscard]] std::string quoted_output() const {
    std::array<char, 1024> buffer{};
    const ssize_t size = pread(output_.get(), buffer.data(), buffer.size(), 0);
    std::string_view words(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    words.remove_prefix(std::min(words.find_first_not_of(" \t\r\n"), words.size()));
    words = words.substr(0, std::min(words.find_first_of("\r\n"), longest_quote));
    return words.empty() ? "" : formatted(" ('{}')", printable(words));
  }

  std::string not_started_;  // why
  pid_t child_ = -1;
  FileDescriptor report_;
  FileDescriptor output_;
  std::string text_;  // of the report
  int status_ = 0;
  bool status_known_ = false;
  bool over_ = true;
};

}  // namespace

ProbeResult probe_library(const std::string& library, std::chrono::milliseconds limit) {
  return Probe(library).watch(limit);
}

}  // namespace gpufilter

#include "support/process.hpp"

#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>

namespace gpufilter::test {
namespace {

using Clock = std::chrono::steady_clock;

// How long a program may take to end once its end signal was sent.
constexpr std::chrono::seconds grace{10};

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { close(); }

  [[nodiscard]] int get() const { return value_; }
  void close() {
    if (value_ >= 0) ::close(value_);
    value_ = -1;
  }

 private:
  int value_;
};

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    check(pipe2(ends.data(), O_CLOEXEC) == 0 ? 0 : errno, "pipe2");
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
  }
  Descriptor read;
  Descriptor write;
};

// A pseudo terminal instead of a pipe, in raw mode: output arrives unchanged.
Pipe open_terminal() {
  Pipe ends;
  ends.read = Descriptor(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  const int ours = ends.read.get();
  std::array<char, 128> name{};
  check(ours >= 0 && grantpt(ours) == 0 && unlockpt(ours) == 0 ? 0 : errno, "posix_openpt");
  check(ptsname_r(ours, name.data(), name.size()), "ptsname_r");
  ends.write = Descriptor(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios settings{};
  check(tcgetattr(ends.write.get(), &settings) == 0 ? 0 : errno, "tcgetattr");
  cfmakeraw(&settings);
  check(tcsetattr(ends.write.get(), TCSANOW, &settings) == 0 ? 0 : errno, "tcsetattr");
  return ends;
}

// "NAME=value" of this program's environment; `added` replaces variables of the same name.
std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!added.contains(std::string(text.substr(0, text.find('='))))) merged.emplace_back(text);
  }
  for (const auto& [name, value] : added)
    merged.push_back(std::string(name).append("=").append(value));
  return merged;
}

std::vector<char*> null_terminated(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t spawn(std::vector<std::string> command, const ProcessOptions& options,
            const std::array<int, 3>& standard_streams) {
  std::vector<std::string> environment = merged_environment(options.environment);
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  check(posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init");
  check(posix_spawnattr_init(&attributes), "posix_spawnattr_init");
  if (!options.folder.empty()) {
    check(posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str()), "addchdir");
  }
  for (int stream = 0; stream < 3; ++stream)
    check(posix_spawn_file_actions_adddup2(&actions, standard_streams.at(stream), stream), "dup2");
  // The program starts with the default actions: run_process ignores SIGPIPE, a shell's background
  // job, which the tests may be, ignores SIGINT and SIGQUIT, and nohup ignores SIGHUP.
  sigset_t defaults{};
  sigemptyset(&defaults);
  for (const int signal_number : {SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP})
    sigaddset(&defaults, signal_number);
  check(posix_spawnattr_setsigdefault(&attributes, &defaults), "posix_spawnattr_setsigdefault");
  check(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF), "posix_spawnattr_setflags");
  pid_t child = -1;
  const int error =
      posix_spawnp(&child, command.front().c_str(), &actions, &attributes,
                   null_terminated(command).data(), null_terminated(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  check(error, command.front().c_str());
  return child;
}

// Our ends of the program's standard streams; a closed one is finished.
struct Streams {
  Descriptor in;
  std::string_view unsent;
  std::array<Descriptor, 2> outputs;
  std::array<std::string*, 2> collected;
};

void send_input(Streams& streams) {
  const ssize_t sent = ::write(streams.in.get(), streams.unsent.data(), streams.unsent.size());
  if (sent >= 0) {
    streams.unsent.remove_prefix(static_cast<std::size_t>(sent));
  } else if (errno == EPIPE) {
    streams.unsent = {};  // a program may end before it has read everything
  } else if (errno != EAGAIN && errno != EINTR) {
    check(errno, "write");
  }
  if (streams.unsent.empty()) streams.in.close();
}

void receive(Descriptor& stream, std::string& collected) {
  std::array<char, 65536> buffer{};
  const ssize_t count = ::read(stream.get(), buffer.data(), buffer.size());
  if (count > 0) {
    collected.append(buffer.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || errno == EIO) {  // EIO: a terminal that nobody writes to any longer
    stream.close();
  } else if (errno != EINTR) {
    check(errno, "read");
  }
}

// Moves bytes in all directions at the same time, so that there is no deadlock, until both outputs
// have ended or time is up.
void pump(Streams& streams, Clock::time_point limit) {
  if (streams.unsent.empty()) streams.in.close();
  while (streams.outputs[0].get() >= 0 || streams.outputs[1].get() >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - Clock::now()).count();
    if (left <= 0) return;
    std::array<pollfd, 3> polled{{{streams.outputs[0].get(), POLLIN, 0},
                                  {streams.outputs[1].get(), POLLIN, 0},
                                  {streams.in.get(), POLLOUT, 0}}};
    if (poll(polled.data(), polled.size(), static_cast<int>(left)) < 0) {
      if (errno == EINTR) continue;
      check(errno, "poll");
    }
    for (std::size_t i = 0; i < 2; ++i) {
      if (polled.at(i).revents != 0) receive(streams.outputs.at(i), *streams.collected.at(i));
    }
    if (polled[2].revents != 0) send_input(streams);
  }
}

// How a child ended, and the resources that it used.
struct End {
  int status = 0;
  rusage usage{};
};

// Whether the child ended before `limit`; then `end` is set.
bool wait_until(pid_t child, Clock::time_point limit, End& end) {
  while (true) {
    const pid_t ended = wait4(child, &end.status, WNOHANG, &end.usage);
    if (ended == child) return true;
    if (ended < 0) check(errno, "wait4");
    if (Clock::now() >= limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, const ProcessOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  ProcessResult result;
  Pipe in;
  Pipe out;
  Pipe err = options.err_is_terminal ? open_terminal() : Pipe();
  const pid_t child = spawn(command, options, {in.read.get(), out.write.get(), err.write.get()});
  for (Descriptor* theirs : {&in.read, &out.write, &err.write})
    theirs->close();
  check(fcntl(in.write.get(), F_SETFL, O_NONBLOCK) == 0 ? 0 : errno, "fcntl");
  Streams streams{std::move(in.write),
                  options.input,
                  {std::move(out.read), std::move(err.read)},
                  {&result.out, &result.err}};

  End end;
  const Clock::time_point limit = Clock::now() + options.time_limit;
  pump(streams, limit);
  if (!wait_until(child, limit, end)) {
    result.timed_out = true;
    kill(child, options.end_signal);
    const Clock::time_point last = Clock::now() + grace;
    pump(streams, last);
    if (!wait_until(child, last, end)) {
      kill(child, SIGKILL);
      while (wait4(child, &end.status, 0, &end.usage) < 0 && errno == EINTR) {
      }
    }
  }
  if (WIFEXITED(end.status)) result.exit_code = WEXITSTATUS(end.status);
  if (WIFSIGNALED(end.status)) result.signal = WTERMSIG(end.status);
  result.peak_memory = static_cast<std::uint64_t>(end.usage.ru_maxrss) * 1024;
  return result;
}

ProcessResult run_gpufilter(std::vector<std::string> arguments, const ProcessOptions& options) {
  arguments.insert(arguments.begin(), GPUFILTER_PROGRAM);
  return run_process(arguments, options);
}

}  // namespace gpufilter::test

#include "device/trial_server.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t largest_message = 64U << 10U;
constexpr std::size_t longest_quote = 120;

// ---- Messages: zero-terminated texts ----

void append(std::string& message, std::string_view text) {
  message += text;
  message += '\0';
}

std::vector<std::string> texts_of(std::string_view message) {
  std::vector<std::string> texts;
  for (std::size_t end = 0; (end = message.find('\0')) != std::string_view::npos;) {
    texts.emplace_back(message.substr(0, end));
    message.remove_prefix(end + 1);
  }
  return texts;
}

bool send_message(int socket, const std::string& message) {
  return send(socket, message.data(), message.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(message.size());
}

// Nothing if the other side is gone.
std::optional<std::string> receive_message(int socket) {
  std::string message(largest_message, '\0');
  ssize_t size = 0;
  do {
    size = recv(socket, message.data(), message.size(), 0);
  } while (size < 0 && errno == EINTR);
  if (size <= 0) return std::nullopt;
  message.resize(static_cast<std::size_t>(size));
  return message;
}

std::string as_message(const TrialResult& result) {
  std::string message;
  append(message, result.survived ? "survived" : "");
  append(message, result.conclusive ? "conclusive" : "");
  append(message, result.ending);
  for (const std::string& note : result.notes)
    append(message, note);
  if (message.size() <= largest_message) return message;
  return as_message({result.survived, false, result.ending, {}});
}

std::optional<TrialResult> as_result(const std::string& message) {
  std::vector<std::string> texts = texts_of(message);
  if (texts.size() < 3) return std::nullopt;
  return TrialResult{
      !texts[0].empty(), !texts[1].empty(), texts[2], {texts.begin() + 3, texts.end()}};
}

// ---- The trial's process ----

[[noreturn]] void carry_out(const TrialServer::Trial& trial, const std::string& subject,
                            const TrialNotes& notes, pid_t server) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != server) _exit(0);
  // One byte: no core file, and no program that collects them either (see core(5)).
  const rlimit no_core{1, 1};
  setrlimit(RLIMIT_CORE, &no_core);
  try {
    trial(subject, notes);
  } catch (...) {
    // A caller can catch an exception, so it is not a failure of the trial.
  }
  notes.end();
  _exit(0);  // the destructors of static objects are left to the original process
}

// ---- The server's process ----

// The terminal's signals are for the original process; this process notices when that one ends.
void forget_signals() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    std::signal(number, SIG_DFL);
  }
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP})
    std::signal(number, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);
  std::set_terminate(std::abort);
}

// Closes all files of the original process except `socket`, whose new number is returned. Standard
// output becomes a file in memory, which collects a trial's output.
int forget_files(int socket) {
  const int kept = fcntl(socket, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close_range(STDERR_FILENO + 1, static_cast<unsigned>(kept) - 1, 0);
  close_range(static_cast<unsigned>(kept) + 1, UINT_MAX, 0);
  int words = memfd_create("trial", 0);
  if (words < 0) words = open("/dev/null", O_RDWR);
  for (int stream = STDIN_FILENO; words >= 0 && stream <= STDERR_FILENO; ++stream)
    dup2(words, stream);
  if (words > STDERR_FILENO) close(words);
  std::fflush(nullptr);  // discards what the original process had buffered
  return kept;
}

// The first line that the trial printed, quoted; empty if it printed none.
std::string quoted_words() {
  std::array<char, 1024> buffer{};
  const ssize_t size = pread(STDERR_FILENO, buffer.data(), buffer.size(), 0);
  std::string_view words(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  words.remove_prefix(std::min(words.find_first_not_of(" \t\r\n"), words.size()));
  words = words.substr(0, std::min(words.find_first_of("\r\n"), longest_quote));
  return words.empty() ? "" : formatted(" ('{}')", printable(words));
}

// The data received from a trial.
struct ChildReport {
  std::string step;
  std::vector<std::string> notes;
  bool ended = false;

  explicit ChildReport(const std::string& pipe) {
    for (std::string& text : texts_of(pipe)) {
      if (text.starts_with('s')) step = text.substr(1);
      if (text.starts_with('n')) notes.push_back(text.substr(1));
      if (text.starts_with('e')) ended = true;
    }
  }

  [[nodiscard]] TrialResult result(bool conclusive, const std::string& end) const {
    const std::string during = step.empty() ? "" : " while " + step;
    return {false, conclusive, end + during + quoted_words(), notes};
  }
};

TrialResult after_end(const ChildReport& report, int status) {
  if (WIFEXITED(status)) return report.result(true, formatted("exit({})", WEXITSTATUS(status)));
  const int number = WTERMSIG(status);
  constexpr std::array from_outside{SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  const bool own =
      std::find(from_outside.begin(), from_outside.end(), number) == from_outside.end();
  const char* name = sigabbrev_np(number);
  return report.result(own,
                       name == nullptr ? formatted("signal {}", number) : formatted("SIG{}", name));
}

// A forked trial. The end of its pipe is not a sure sign of its end, since a driver's helper
// process may hold the pipe open too.
class RunningTrial {
 public:
  RunningTrial(pid_t child, FileDescriptor pipe) : child_(child), pipe_(std::move(pipe)) {}
  // Gives up after a while: a driver may keep its process from being killed.
  ~RunningTrial() {
    for (int tries = 0; tries < 200 && !ended(); ++tries) {
      kill(child_, SIGKILL);
      poll(nullptr, 0, 5);
    }
  }
  RunningTrial(const RunningTrial&) = delete;
  RunningTrial& operator=(const RunningTrial&) = delete;

  // Ends this process if the original one, at the other end of `socket`, is gone.
  [[nodiscard]] TrialResult watch(int socket, std::chrono::milliseconds limit) {
    const Clock::time_point end = Clock::now() + limit;
    for (;;) {
      const bool late = Clock::now() >= end;
      const bool over = ended();
      read_pipe();
      const ChildReport report(text_);
      if (report.ended) return {true, true, "", report.notes};
      if (over) return after_end(report, status_);
      if (late) return report.result(true, formatted("no answer within {} s", seconds(limit)));
      if (original_is_gone(socket)) _exit(0);
    }
  }

 private:
  static double seconds(std::chrono::milliseconds time) {
    return std::chrono::duration<double>(time).count();
  }

  bool ended() {
    if (!over_) over_ = waitpid(child_, &status_, WNOHANG) != 0;
    return over_;
  }

  void read_pipe() {
    std::array<char, 4096> buffer{};
    ssize_t size = 0;
    while ((size = read(pipe_.get(), buffer.data(), buffer.size())) > 0)
      text_.append(buffer.data(), static_cast<std::size_t>(size));
    if (size == 0) pipe_.reset();  // at its end, it would never let poll() wait
  }

  // Waits a moment, or until there is something to do.
  [[nodiscard]] bool original_is_gone(int socket) const {
    std::array<pollfd, 2> polled{{{pipe_ ? pipe_.get() : -1, POLLIN, 0}, {socket, 0, 0}}};
    poll(polled.data(), polled.size(), pipe_ ? 20 : 1);
    return (polled[1].revents & (POLLHUP | POLLERR)) != 0;
  }

  pid_t child_;
  FileDescriptor pipe_;
  std::string text_;
  int status_ = 0;
  bool over_ = false;
};

// Runs one trial in a separate process.
TrialResult supervise(int socket, const std::string& subject, const TrialServer::Trial& trial,
                      std::chrono::milliseconds limit) {
  const auto not_started = [] {
    return TrialResult{
        false, false, "cannot start a process for its trial: " + describe_system_error(errno), {}};
  };
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) return not_started();
  FileDescriptor read_end(pipe[0]);
  FileDescriptor write_end(pipe[1]);
  const pid_t server = getpid();
  const pid_t child = fork();
  if (child < 0) return not_started();
  if (child == 0) {
    close(socket);
    carry_out(trial, subject, TrialNotes(pipe[1]), server);
  }
  write_end.reset();
  fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  return RunningTrial(child, std::move(read_end)).watch(socket, limit);
}

// Empties the file that collects a trial's output.
void forget_words() {
  lseek(STDERR_FILENO, 0, SEEK_SET);
  if (ftruncate(STDERR_FILENO, 0) != 0) return;  // not a file: nothing is kept
}

[[noreturn]] void serve(int given, const TrialServer::Trial& trial,
                        std::chrono::milliseconds limit) noexcept {
  forget_signals();
  const int socket = forget_files(given);
  log::set_level(log::Level::off);
  for (;;) {
    const auto request = receive_message(socket);
    if (!request) _exit(0);
    forget_words();
    const std::string subject = texts_of(*request).at(0);
    if (!send_message(socket, as_message(supervise(socket, subject, trial, limit)))) _exit(0);
  }
}

}  // namespace

void TrialNotes::send(char kind, std::string_view text) const {
  std::string message(1, kind);
  append(message, text);
  write_fully(pipe_, {reinterpret_cast<const std::uint8_t*>(message.data()), message.size()});
}

TrialServer::TrialServer(const Trial& trial, std::chrono::milliseconds limit)
    : forked_alone_(__libc_single_threaded != 0) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  socket_.reset(ends[0]);
  const FileDescriptor theirs(ends[1]);
  server_ = fork();
  if (server_ == 0) {
    socket_.reset();
    serve(theirs.get(), trial, limit);
  }
  if (server_ < 0) socket_.reset();
}

TrialServer::~TrialServer() {
  socket_.reset();
  while (server_ > 0 && waitpid(server_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

TrialResult TrialServer::run(const std::string& subject) {
  if (!socket_) return {false, false, "the process for trials could not be started", {}};
  std::string request;
  append(request, subject);
  const auto message =
      send_message(socket_.get(), request) ? receive_message(socket_.get()) : std::nullopt;
  auto result = message ? as_result(*message) : std::nullopt;
  if (!result) {
    socket_.reset();
    return {false, false, "the process for trials was terminated", {}};
  }
  result->conclusive = result->conclusive && (result->survived || forked_alone_);
  return *result;
}

}  // namespace gpufilter

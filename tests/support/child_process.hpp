// Parts of a test that need a process of their own: signals, limits, file systems without locks.
#pragma once

#include <sys/single_threaded.h>
#include <sys/wait.h>

#include "support/testing.hpp"

namespace gpufilter::test {

// Runs `body`, which returns an exit code, in a forked child. Returns the child's process id.
template <typename Body>
[[nodiscard]] pid_t start_child(Body body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int code = 100;  // an exception escaped
  try {
    code = body();
  } catch (...) {
  }
  ::_exit(code);
}

// The exit code of that child; 1000 + the signal if one ended it; -1 if there is no such child.
[[nodiscard]] inline int wait_for_child(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// A user for this process alone: a limit of processes counts all processes of a user, so tests that
// run at the same time must not share one.
[[nodiscard]] inline unsigned user_of_this_process() {
  return 60000U + static_cast<unsigned>(::getpid()) % 5000U;
}

// From now on flock(2) does nothing in this process and in those that it starts: it fails with
// `error` or, if that is 0, seems to succeed, as on file systems whose locks are local to a
// machine. Returns whether that was possible.
[[nodiscard]] bool forget_locks(int error);

struct InterruptedProgram {
  int exit_code = 0;  // as wait_for_child() gives it
  std::string err;
};

// Runs gpufilter with `words` in `folder` and sends `signal_number` once `has_come_far` holds, at
// the latest after a minute. Only for processes that have had no threads.
inline InterruptedProgram interrupt_program(std::vector<std::string> words,
                                            const std::string& folder, int signal_number,
                                            const std::function<bool()>& has_come_far) {
  const TemporaryFolder elsewhere;
  const std::string err = elsewhere / "err";
  words.insert(words.begin(), GPUFILTER_PROGRAM);
  const pid_t child = start_child([&] {
    std::vector<char*> arguments;
    for (std::string& word : words)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    std::signal(signal_number, SIG_DFL);
    if (::chdir(folder.c_str()) == 0) ::execv(arguments.front(), arguments.data());
    return 99;
  });
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!has_come_far() && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(child, signal_number);
  const int exit_code = wait_for_child(child);
  return {exit_code, read_file(err)};
}

// How many finished PNG files are in a folder, which may not exist yet.
inline std::ptrdiff_t finished_pictures(const std::filesystem::path& folder) {
  std::error_code none;
  std::ptrdiff_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    found += entry.path().extension() == ".png" ? 1 : 0;
  return found;
}

}  // namespace gpufilter::test

// Skips the running test if the process has had threads, for example in earlier tests. CTest runs
// each test in a separate process.
#define GPUFILTER_REQUIRE_A_NEW_PROCESS() \
  if (__libc_single_threaded == 0) GTEST_SKIP() << "skipped: this process has had threads"

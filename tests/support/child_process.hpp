// Parts of a test that need a process of their own: signals, limits.
#pragma once

#include <sys/single_threaded.h>
#include <sys/wait.h>
#include <unistd.h>

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

}  // namespace gpufilter::test

// Skips the running test if the process has had threads, for example in earlier tests. CTest runs
// each test in a separate process.
#define GPUFILTER_REQUIRE_A_NEW_PROCESS() \
  if (__libc_single_threaded == 0) GTEST_SKIP() << "skipped: this process has had threads"

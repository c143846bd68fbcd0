// Runs programs as a user would, apart from the shell: arguments and bytes in, bytes and an exit
// code out.
#pragma once

#include <source_location>

#include "support/testing.hpp"

namespace gpufilter::test {

struct ProcessOptions {
  std::string input = {};                               // bytes for standard input, which then ends
  std::map<std::string, std::string> environment = {};  // added to this program's own
  fs::path folder = {};                                 // working folder; empty: this program's
  std::chrono::milliseconds time_limit{120'000};
  bool err_is_terminal = false;  // standard error is a pseudo terminal, in raw mode
  int end_signal = SIGKILL;      // sent at the time limit; SIGKILL follows if it does not end
};

struct ProcessResult {
  int exit_code = -1;             // -1 if a signal ended it
  int signal = 0;                 // that signal; 0 if it ended by itself
  bool timed_out = false;         // the time limit passed before the end
  std::uint64_t peak_memory = 0;  // bytes of memory in use at the same time (resident set size)
  std::string out;
  std::string err;
};

// Runs command[0] (looked up in PATH if it has no slash) with the other words as its arguments, to
// its end. Throws std::system_error if it cannot be started.
[[nodiscard]] ProcessResult run_process(const Words& command, const ProcessOptions& options = {});

// Runs the program under test.
[[nodiscard]] ProcessResult run_gpufilter(Words arguments, const ProcessOptions& options = {});

// Runs whose kernels run for longer than PoCL takes to optimise them. The other tests' kernels are
// not optimised, and our program cache does not tell them apart.
[[nodiscard]] inline ProcessOptions optimised() {
  const fs::path cache = std::getenv("XDG_CACHE_HOME");
  return {.environment = {{"POCL_EXTRA_BUILD_FLAGS", ""},
                          {"XDG_CACHE_HOME", (cache / "optimised").string()}}};
}

// The result of a program that is expected to end with `exit_code`.
inline ProcessResult ended(int exit_code, ProcessResult result,
                           const std::source_location& where = std::source_location::current()) {
  const ::testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "");
  EXPECT_EQ(result.exit_code, exit_code) << result.err << result.out;
  return result;
}

}  // namespace gpufilter::test

// The one place where an exception becomes a message and an exit code.
#pragma once

namespace gpufilter {

// By the kind of failure; commands whose exit codes have other meanings have their own.
struct ExitCodes {
  int picture = 1;  // and everything except the other two
  int usage = 2;
  int device = 3;
};

// Only while an exception is handled: prints "gpufilter: PATH: REASON" and returns its exit code.
[[nodiscard]] int report_failure(const ExitCodes& codes = {});

// The program's terminate handler: an exception on a thread that nobody can catch it on, such as
// one of oneTBB's, ends the program like any other failure, and unfinished files are removed.
[[noreturn]] void end_after_failure() noexcept;

}  // namespace gpufilter

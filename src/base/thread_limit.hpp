// Limits the threads that the program uses, through oneTBB.
#pragma once

#include <cstddef>
#include <memory>

namespace gpufilter {

// The number of cores that the process may run on.
[[nodiscard]] std::size_t available_cores();

// The number of cores that the process may run on, or the lowest ThreadLimit; no more than can be
// started: oneTBB ends the program if it cannot start a thread. So it has to be called before
// parallel work.
[[nodiscard]] std::size_t allowed_threads();

// While it exists, parallel work uses at most `threads` threads in total, including the one that
// starts it. The lowest of several limits applies.
class ThreadLimit {
 public:
  explicit ThreadLimit(std::size_t threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

  // Replaces the number. Work in progress gains or loses threads soon afterwards.
  void set(std::size_t threads);

 private:
  struct Control;
  std::unique_ptr<Control> control_;
};

}  // namespace gpufilter

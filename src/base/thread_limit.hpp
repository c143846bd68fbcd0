// Limits the threads that the program uses, through oneTBB.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

namespace gpufilter {

// The number of cores that the process may run on.
[[nodiscard]] std::size_t available_cores();

// The number of cores that the process may run on, or the lowest ThreadLimit, or the number that
// run_with_threads() allows this thread; no more than can be
// started: oneTBB ends the program if it cannot start a thread. So it has to be called before
// parallel work.
[[nodiscard]] std::size_t allowed_threads();

// Runs `work` on this thread and at most `threads` - 1 others; decoders and encoders have as many
// of their own. Other work of the process has as many threads as before.
void run_with_threads(std::size_t threads, const std::function<void()>& work);
// The number for the call that this thread works for; nothing if there is none.
[[nodiscard]] std::optional<std::size_t> threads_of_this_call();

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

// How many threads the program works with. oneTBB is behind it.
#pragma once

#include <cstddef>
#include <memory>

namespace gpufilter {

// As many as there are cores that the process may run on, or what a ThreadLimit says.
[[nodiscard]] std::size_t allowed_threads();

// While it lives, work that is spread over threads takes at most `threads` of them in all, the one
// that hands it out among them. Of several limits the lowest holds.
class ThreadLimit {
 public:
  explicit ThreadLimit(std::size_t threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

  // Replaces the number. Work under way gains or loses threads soon.
  void set(std::size_t threads);

 private:
  struct Control;
  std::unique_ptr<Control> control_;
};

}  // namespace gpufilter

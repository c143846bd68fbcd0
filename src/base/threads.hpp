// How many threads the program uses through oneTBB, and how many the system lets it start: limits
// of processes, as containers and shared machines set them, and of address space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpufilter {

// The number of cores that the process may run on.
[[nodiscard]] std::size_t available_cores();

// The number of cores that the process may run on, or the lowest ThreadLimit, or the number that
// run_with_threads() allows this thread; no more than can be
// started: oneTBB ends the program if it cannot start a thread. So it has to be called before
// parallel work.
[[nodiscard]] std::size_t allowed_threads();

// Runs `work` on this thread and at most `threads` - 1 others; decoders and encoders have as many
// in addition. Other work of the process keeps its threads.
void run_with_threads(std::size_t threads, const std::function<void()>& work);
// The number for the call that this thread works for; nothing if there is none.
[[nodiscard]] std::optional<std::size_t> threads_of_this_call();

// While a ThreadLimit exists, parallel work uses at most `threads` threads in total, including the
// one that starts it. The lowest of several limits applies.
class ThreadLimit {
 public:
  explicit ThreadLimit(std::size_t threads);
  ~ThreadLimit();

  // Replaces the number. Work in progress gains or loses threads soon afterwards.
  void set(std::size_t threads);

 private:
  struct Control;
  std::unique_ptr<Control> control_;
};

// How many threads, at most `wanted`, can run in addition to the existing ones. If a limit is near,
// a quarter of the remaining threads is left to others, such as a device's driver. Tests this by
// starting threads, but only if a limit may be near.
[[nodiscard]] std::size_t startable_threads(std::size_t wanted);

// Bytes of address space that the process may use; the highest number if there is no limit.
[[nodiscard]] std::uint64_t address_space_limit();

// If the address space is limited to less than a few gigabytes, lets all threads share one memory
// pool, because separate pools would use it up. Call it at the beginning of a program.
void save_address_space();

// Runs work(i) for i from 0 on separate threads: `count` of them, or as many as can be started,
// which may be none.
[[nodiscard]] std::vector<std::jthread> start_threads(
    std::size_t count, const std::function<void(std::size_t index)>& work);

// Runs `work` on a new thread; if none can be started, on this one, before returning.
template <typename Work>
[[nodiscard]] auto start_on_thread(Work work) -> std::future<std::invoke_result_t<Work&>> {
  try {
    return std::async(std::launch::async, work);
  } catch (const std::system_error&) {
    std::packaged_task<std::invoke_result_t<Work&>()> here(std::move(work));
    auto result = here.get_future();
    here();
    return result;
  }
}

}  // namespace gpufilter

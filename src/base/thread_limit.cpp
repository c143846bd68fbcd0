#include "base/thread_limit.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

#include "base/format.hpp"
#include "base/log.hpp"
#include "base/order_annotations.hpp"
#include "base/thread_room.hpp"
#include "base/words.hpp"

namespace gpufilter {
namespace {

// In run_with_threads(); 0: no limit.
thread_local std::size_t threads_of_call = 0;

std::size_t threads_of_tbb() {
  const std::size_t all =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  return threads_of_call == 0 ? all : std::min(all, threads_of_call);
}

// Tells every thread in an arena how many there may be.
class ArenaLimit final : public tbb::task_scheduler_observer {
 public:
  ArenaLimit(tbb::task_arena& arena, std::size_t threads)
      : tbb::task_scheduler_observer(arena), threads_(threads) {
    happens_before(this);
    observe(true);
  }
  ~ArenaLimit() override {
    observe(false);  // waits for calls in progress
    happens_after(this);
  }
  ArenaLimit(const ArenaLimit&) = delete;
  ArenaLimit& operator=(const ArenaLimit&) = delete;

  void on_scheduler_entry(bool /*is_worker*/) override {
    happens_after(this);
    const HappensBefore order(this);
    threads_of_call = threads_;
  }
  void on_scheduler_exit(bool /*is_worker*/) override { threads_of_call = 0; }

 private:
  std::size_t threads_;
};

// How many threads can be started, the one that starts parallel work included.
std::atomic<std::size_t> startable = 1;

using Control = tbb::global_control;

// To be called before oneTBB may start `wanted` threads. If that many cannot be started, they are
// never allowed: oneTBB would try. Returns whether that was found just now.
bool keep_to_startable(std::size_t wanted) {
  static std::mutex mutex;
  static Control* limit = nullptr;  // reachable until the end
  if (wanted <= startable) return false;
  const std::lock_guard lock(mutex);
  if (wanted <= startable || limit != nullptr) return false;
  const std::size_t found = startable_threads(wanted - 1) + 1;
  if (found < wanted) limit = new Control(Control::max_allowed_parallelism, found);
  startable = found;
  return found < wanted;
}

}  // namespace

struct ThreadLimit::Control {
  tbb::global_control control;
};

ThreadLimit::ThreadLimit(std::size_t threads) {
  set(threads);
}

void ThreadLimit::set(std::size_t threads) {
  if (control_) keep_to_startable(threads);
  control_.reset(new Control{
      {tbb::global_control::max_allowed_parallelism, std::max<std::size_t>(threads, 1)}});
}

// oneTBB may start threads for work that ended under the limit.
ThreadLimit::~ThreadLimit() {
  keep_to_startable(available_cores());
}

std::size_t available_cores() {
  return static_cast<std::size_t>(tbb::info::default_concurrency());
}

void run_with_threads(std::size_t threads, const std::function<void()>& work) {
  // oneTBB prints a warning if it is asked for more than there are.
  threads = std::min(threads, available_cores());
  tbb::task_arena arena(static_cast<int>(threads));
  arena.initialize();
  const ArenaLimit limit(arena, threads);
  happens_before(&work);
  const HappensAfter done(&work);
  arena.execute([&work] {  // on another thread, if this one finds no place in the arena
    happens_after(&work);
    const HappensBefore order(&work);
    work();
  });
}

std::optional<std::size_t> threads_of_this_call() {
  return threads_of_call == 0 ? std::nullopt : std::optional(threads_of_call);
}

std::size_t allowed_threads() {
  const std::size_t wanted = threads_of_tbb();
  if (!keep_to_startable(wanted)) return threads_of_tbb();
  const std::size_t found = threads_of_tbb();
  log::warn(formatted("{} instead of {}: a limit of processes or memory allows no more",
                      counted(found, "thread"), wanted));
  return found;
}

}  // namespace gpufilter

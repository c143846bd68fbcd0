#include "base/background.hpp"

#include <exception>
#include <new>

#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "base/stop.hpp"
#include "base/threads.hpp"

namespace gpufilter {

// A separate arena keeps a waiting thread from taking up unrelated tasks, which might take long or
// wait for something that the thread holds. Arenas are reused: a new one for each picture would
// take time, and memory that allocators do not reuse.
struct Background::Arena {
  explicit Arena(int slots) { arena.initialize(slots); }

  // An arena with `slots` slots for threads, which no other Background uses.
  static std::unique_ptr<Arena> take(int slots) {
    Unused& unused = Arena::unused();
    const std::lock_guard lock(unused.mutex);
    const auto found = std::ranges::find_if(unused.arenas, [slots](const auto& kept) {
      return kept->arena.max_concurrency() == slots;
    });
    if (found == unused.arenas.end()) return std::make_unique<Arena>(slots);
    std::unique_ptr<Arena> taken = std::move(*found);
    unused.arenas.erase(found);
    return taken;
  }

  // Keeps the arena for reuse, or drops it if memory is short.
  static void give_back(std::unique_ptr<Arena> arena) noexcept {
    Unused& unused = Arena::unused();
    const std::lock_guard lock(unused.mutex);
    try {
      unused.arenas.push_back(std::move(arena));
    } catch (const std::bad_alloc&) {
    }
  }

  tbb::task_arena arena;

 private:
  struct Unused {
    std::mutex mutex;
    std::vector<std::unique_ptr<Arena>> arenas;
  };

  static Unused& unused() {
    static Unused unused;
    return unused;
  }
};

// A limit that applies now may be lifted while tasks run, so the arena has room for all threads;
// limits apply whatever its size.
Background::Background()
    : arena_(Arena::take(static_cast<int>(
          threads_of_this_call().value_or(std::max(available_cores(), allowed_threads()))))) {}

Background::~Background() {
  Arena::give_back(std::move(arena_));
}

std::size_t Background::threads() const {
  const int threads = std::max(arena_->arena.max_concurrency(), 1);
  return std::min(static_cast<std::size_t>(threads), allowed_threads());
}

struct BackgroundTask::State {
  tbb::task_arena& arena;
  std::function<void()> work = {};
  std::stop_token stop = {};
  std::exception_ptr exception = nullptr;
  tbb::task_group group = {};

  void run() {
    happens_after(this);
    const StopScope scope(stop);
    try {
      work();
    } catch (...) {
      exception = std::current_exception();
    }
    happens_before(this);
  }

  void join() {
    arena.execute([this] { group.wait(); });
    happens_after(this);
  }
};

BackgroundTask::BackgroundTask(Background& background)
    : state_(new State{background.arena_->arena}) {}

BackgroundTask::~BackgroundTask() {
  state_->group.cancel();
  state_->join();
}

void BackgroundTask::start(std::function<void()> work) {
  state_->work = std::move(work);
  state_->stop = stop_of_this_call();
  state_->exception = nullptr;
  happens_before(state_.get());
  state_->arena.execute([state = state_.get()] { state->group.run([state] { state->run(); }); });
}

void BackgroundTask::wait() {
  state_->join();
  if (state_->exception) std::rethrow_exception(std::exchange(state_->exception, nullptr));
}

}  // namespace gpufilter

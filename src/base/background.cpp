#include "base/background.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace gpufilter {

// An arena of its own keeps a waiting thread from taking up unrelated tasks, which might take long,
// or wait for what that thread holds.
struct Background::Arena {
  tbb::task_arena arena;
};

Background::Background() : arena_(std::make_unique<Arena>()) {
  const auto threads =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  arena_->arena.initialize(static_cast<int>(threads));
}

Background::~Background() = default;

std::size_t Background::threads() const {
  return static_cast<std::size_t>(std::max(arena_->arena.max_concurrency(), 1));
}

struct BackgroundTask::State {
  tbb::task_arena& arena;
  std::function<void()> work = {};
  std::exception_ptr exception = nullptr;
  // oneTBB orders start, work and wait by itself, but in a library that thread sanitizers cannot
  // see into; this says it once more.
  std::atomic<bool> in_the_background = false;
  tbb::task_group group = {};

  void run() {
    if (!in_the_background.load(std::memory_order_acquire)) return;
    try {
      work();
    } catch (...) {
      exception = std::current_exception();
    }
    in_the_background.store(false, std::memory_order_release);
  }

  void join() {
    arena.execute([this] { group.wait(); });
    (void)in_the_background.load(std::memory_order_acquire);
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
  state_->exception = nullptr;
  state_->in_the_background.store(true, std::memory_order_release);
  state_->arena.execute([state = state_.get()] { state->group.run([state] { state->run(); }); });
}

void BackgroundTask::wait() {
  state_->join();
  if (state_->exception) std::rethrow_exception(std::exchange(state_->exception, nullptr));
}

}  // namespace gpufilter

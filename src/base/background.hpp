// Work done by other threads while the caller goes on. oneTBB is behind it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace gpufilter {

// The threads that a group of tasks runs on: those of the process, as many as allowed_threads()
// says at the time. A thread that waits for a task of the group helps with the group's tasks,
// and with no others.
class Background {
 public:
  Background();
  ~Background();  // its tasks are gone by then
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  [[nodiscard]] std::size_t threads() const;

 private:
  friend class BackgroundTask;
  struct Arena;
  std::unique_ptr<Arena> arena_;
};

// One piece of work, done at some time between its start and the return of wait().
class BackgroundTask {
 public:
  // `background` outlives the task.
  explicit BackgroundTask(Background& background);
  // Waits where wait() was not called; work that no thread has begun is then not done at all.
  ~BackgroundTask();
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  // May be called again after wait().
  void start(std::function<void()> work);

  // Returns when the work is done; throws what it threw.
  void wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter

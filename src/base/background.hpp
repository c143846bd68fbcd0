// Work done by other threads while the caller continues, on oneTBB.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace gpufilter {

// The threads that a group of tasks runs on: up to allowed_threads() of the process's threads. A
// thread that waits for a task of the group helps with the group's tasks and with no others.
class Background {
 public:
  Background();
  ~Background();  // all its tasks have to be destroyed before
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  [[nodiscard]] std::size_t threads() const;

 private:
  friend class BackgroundTask;
  struct Arena;
  std::unique_ptr<Arena> arena_;
};

// One piece of work, done at some time between start() and the return of wait().
class BackgroundTask {
 public:
  // `background` has to outlive the task.
  explicit BackgroundTask(Background& background);
  // If wait() was not called, cancels work that no thread has begun and waits for work in progress.
  ~BackgroundTask();
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  // May be called again after wait().
  void start(std::function<void()> work);

  // Returns when the work is done; rethrows its exception.
  void wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter

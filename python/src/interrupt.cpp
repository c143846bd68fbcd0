#include "interrupt.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <pthread.h>

namespace py = pybind11;

namespace gpufilter::python {
namespace {

// How long a signal or a progress may wait.
constexpr std::chrono::milliseconds slice{20};

// A thread that works for one caller at a time, and sleeps otherwise.
class Worker {
 public:
  Worker() {
    std::thread([this] { work_for_callers(); }).detach();
  }

  void start(const std::function<void()>& work) {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    changed_.notify_all();
  }

  // Waits for at most a slice. Whether the work has ended.
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, slice, [this] { return work_ == nullptr; });
  }

 private:
  [[noreturn]] void work_for_callers() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return work_ != nullptr; });
      lock.unlock();
      (*work_)();
      lock.lock();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
};

// Workers that have no work.
class Workers {
 public:
  // Never destroyed, since its threads use it until the process ends. A child after a fork has none
  // of its parent's threads, so it starts with a new object.
  static Workers& of_this_process() {
    static Workers* workers = [] {
      pthread_atfork(nullptr, nullptr, [] { workers = new Workers; });
      return new Workers;
    }();
    return *workers;
  }

  Worker* take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return new Worker;
    Worker* worker = idle_.back();
    idle_.pop_back();
    return worker;
  }

  void give_back(Worker* worker) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(worker);
  }

 private:
  std::mutex mutex_;
  std::vector<Worker*> idle_;
};

// Passes the finished fraction from the working thread to the one that reports it.
struct Progress {
  std::atomic<double> done = 0;
  double reported = 0;

  // Calls the callback. The GIL has to be held.
  void tell(const py::object& callback) {
    const double now = done;
    if (callback.is_none() || now == reported) return;
    reported = now;
    callback(now);
  }
};

}  // namespace

void run_interruptibly(const py::object& progress,
                       const std::function<void(const RunControl& control)>& work,
                       const std::function<void()>& report) {
  Progress part;
  std::stop_source stop;
  RunControl control{.stop = stop.get_token()};
  if (!progress.is_none()) control.progress = [&part](double done) { part.done = done; };
  std::exception_ptr failure;
  const std::function<void()> task = [&] {
    try {
      work(control);
    } catch (...) {
      failure = std::current_exception();
    }
  };
  std::exception_ptr interruption;
  {
    const py::gil_scoped_release others_may_run;
    Worker* worker = Workers::of_this_process().take();
    worker->start(task);
    while (!worker->wait()) {
      if (interruption) continue;
      const py::gil_scoped_acquire gil;
      try {
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        part.tell(progress);
        if (report) report();
      } catch (...) {
        interruption = std::current_exception();
        stop.request_stop();
      }
    }
    Workers::of_this_process().give_back(worker);
  }
  if (interruption) std::rethrow_exception(interruption);
  if (failure) std::rethrow_exception(failure);
  part.tell(progress);
  if (report) report();
}

}  // namespace gpufilter::python

#include "interrupt.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <cxxabi.h>

#include "calls.hpp"

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

// Workers that have no work. Never destroyed, since their threads use it until the process ends.
class Workers {
 public:
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

// A call as its watchers see it. The GIL has to be held, except for `done`.
class WatchedCall {
 public:
  WatchedCall(const Watch& watch, std::stop_source stop) : watch_(watch), stop_(std::move(stop)) {
    obey();
  }

  // Set by the working thread.
  std::atomic<double> done = 0;

  // Calls the watchers, and the handlers of signals. An exception stops the call; then nobody is
  // called any more.
  void serve() {
    if (interruption_) return;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      obey();
      tell();
    } catch (abi::__forced_unwind&) {
      throw;
    } catch (...) {
      interruption_ = std::current_exception();
      stop_.request_stop();
    }
  }

  // Throws what the watchers threw, otherwise `failure` of the work, if it failed.
  void end(const std::exception_ptr& failure) {
    if (interruption_) std::rethrow_exception(interruption_);
    if (failure) std::rethrow_exception(failure);
    tell();
  }

 private:
  void obey() {
    if (watch_.stop.is_none() || !watch_.stop.attr("is_set")().cast<bool>()) return;
    stop_.request_stop();
  }

  void tell() {
    const double now = done;
    if (!watch_.progress.is_none() && now != reported_) {
      reported_ = now;
      watch_.progress(now);
    }
    if (watch_.report) watch_.report();
  }

  const Watch& watch_;
  std::stop_source stop_;
  std::exception_ptr interruption_;
  double reported_ = 0;
};

}  // namespace

void run_interruptibly(const std::function<void(const RunControl& control)>& work,
                       const Watch& watch) {
  const std::stop_source stop;
  WatchedCall call(watch, stop);
  RunControl control{.stop = stop.get_token()};
  if (!watch.progress.is_none()) control.progress = [&call](double done) { call.done = done; };
  std::exception_ptr failure;
  {
    WithoutGil others_may_run;
    std::optional<NativeWork> native(stop);
    const std::function<void()> task = [&] {
      try {
        work(control);
      } catch (...) {
        failure = std::current_exception();
      }
      native.reset();  // from here on, Python may end
    };
    auto& workers = of_this_process<Workers>();
    Worker* worker = workers.take();
    worker->start(task);
    while (!worker->wait())
      others_may_run.interrupt([&] { call.serve(); });
    workers.give_back(worker);
  }
  call.end(failure);
}

}  // namespace gpufilter::python

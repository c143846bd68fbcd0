#include "calls.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include <cxxabi.h>
#include <unistd.h>

namespace gpufilter::python {
namespace {

[[noreturn]] void sleep_forever() {
  while (true)
    ::pause();
}

struct WorkInProgress {
  std::mutex mutex;
  std::condition_variable ended;
  std::list<std::stop_source> stops;
  bool is_closed = false;
  std::thread::id closer;
};

// Calls work() on a thread that Python may end meanwhile.
template <typename Work>
void survive(const Work& work) {
  try {
    work();
  } catch (abi::__forced_unwind&) {
    sleep_forever();  // leaving this block would continue the unwinding
  }
}

// Locks it on a thread that may begin work; others sleep.
std::unique_lock<std::mutex> locked(WorkInProgress& all) {
  std::unique_lock lock(all.mutex);
  if (!all.is_closed || all.closer == std::this_thread::get_id()) return lock;
  lock.unlock();
  sleep_forever();
}

}  // namespace

void WithoutGil::take() noexcept {
  static_cast<void>(locked(of_this_process<WorkInProgress>()));
  survive([&] { PyEval_RestoreThread(thread_); });
}

void WithoutGil::interrupt(const std::function<void()>& work) noexcept {
  take();
  survive(work);
  thread_ = PyEval_SaveThread();
}

NativeWork::NativeWork(std::stop_source stop) {
  auto& all = of_this_process<WorkInProgress>();
  const auto lock = locked(all);
  entry_ = all.stops.insert(all.stops.end(), std::move(stop));
}

NativeWork::~NativeWork() {
  auto& all = of_this_process<WorkInProgress>();
  const std::lock_guard lock(all.mutex);
  all.stops.erase(entry_);
  all.ended.notify_all();
}

void end_native_work() {
  auto& all = of_this_process<WorkInProgress>();
  std::unique_lock lock(all.mutex);
  all.is_closed = true;
  all.closer = std::this_thread::get_id();
  for (std::stop_source& stop : all.stops)
    stop.request_stop();
  all.ended.wait(lock, [&] { return all.stops.empty(); });
}

}  // namespace gpufilter::python

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

}  // namespace

void WithoutGil::take() noexcept {
  try {
    PyEval_RestoreThread(thread_);
  } catch (abi::__forced_unwind&) {
    sleep_forever();  // leaving this block would continue the unwinding
  }
}

NativeWork::NativeWork(std::stop_source stop) {
  auto& all = of_this_process<WorkInProgress>();
  std::unique_lock lock(all.mutex);
  if (all.is_closed && all.closer != std::this_thread::get_id()) {
    lock.unlock();
    sleep_forever();
  }
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

// Work without the GIL, and its end when Python ends.
#pragma once

#include <functional>
#include <list>
#include <stop_token>

#include <pthread.h>
#include <pybind11/pybind11.h>

namespace gpufilter::python {

// An object for the life of the process, because threads use it until the end. A child after a fork
// has none of its parent's threads, so it starts with a new one.
template <typename State>
State& of_this_process() {
  static State* state = [] {
    pthread_atfork(nullptr, nullptr, [] { state = new State; });
    return new State;
  }();
  return *state;
}

// Other Python threads run while it exists. Once Python is ending, it ends threads that ask for the
// GIL by unwinding their stacks, which destructors do not survive: they sleep here instead, until
// the process is gone. So do all but one once end_native_work() was called.
class WithoutGil {
 public:
  WithoutGil() : thread_(PyEval_SaveThread()) {}
  ~WithoutGil() { take(); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

  // Calls work() with the GIL. It throws nothing, but lets abi::__forced_unwind pass, by which
  // Python ends a thread that is running its code.
  void interrupt(const std::function<void()>& work) noexcept;

 private:
  void take() noexcept;

  PyThreadState* thread_;
};

// The library is at work while it exists. Once end_native_work() was called, only the thread that
// called it may begin any; others sleep. The GIL must not be held.
class NativeWork {
 public:
  explicit NativeWork(std::stop_source stop = std::stop_source(std::nostopstate));
  ~NativeWork();
  NativeWork(const NativeWork&) = delete;
  NativeWork& operator=(const NativeWork&) = delete;

 private:
  std::list<std::stop_source>::iterator entry_;
};

// Stops the work of all threads and waits for its end, so that the process may end.
void end_native_work();

}  // namespace gpufilter::python

// Calls of the library that Ctrl-C ends.
#pragma once

#include <functional>

#include <gpufilter/control.hpp>
#include <pybind11/pybind11.h>

namespace gpufilter::python {

// Who watches a call from Python. The defaults are nobody.
struct Watch {
  pybind11::object progress = pybind11::none();  // called with the finished fraction, 0 to 1
  pybind11::object stop = pybind11::none();  // the work is stopped once its is_set() returns true
  std::function<void()> report = {};  // called from time to time and at the end, with the GIL

  [[nodiscard]] bool is_empty() const { return progress.is_none() && stop.is_none() && !report; }
};

// Calls work(control) on another thread and waits for its end, without the GIL. Meanwhile this
// thread handles signals, which Python does only on its main thread and between its own
// instructions, and serves `watch`. An exception of a signal's handler (KeyboardInterrupt) or of a
// watcher stops the work and propagates. The GIL has to be held.
void run_interruptibly(const std::function<void(const RunControl& control)>& work,
                       const Watch& watch = {});

}  // namespace gpufilter::python

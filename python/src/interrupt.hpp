// Calls of the library that Ctrl-C ends.
#pragma once

#include <functional>

#include <gpufilter/control.hpp>
#include <pybind11/pybind11.h>

namespace gpufilter::python {

// Calls work(control) on another thread and waits for its end, without the GIL. Meanwhile this
// thread handles signals, which Python does only on its main thread and between its own
// instructions, and calls `progress` (None: nothing) with the finished fraction, 0 to 1. An
// exception of a signal's handler (KeyboardInterrupt) or of `progress` stops the work and
// propagates, as does one of `report`, which is called from time to time and at the end. The GIL
// has to be held.
void run_interruptibly(const pybind11::object& progress,
                       const std::function<void(const RunControl& control)>& work,
                       const std::function<void()>& report = {});

}  // namespace gpufilter::python

// What benchmarks run on: a device, or the processor alone.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bench/report.hpp"
#include "device/session.hpp"

namespace gpufilter::bench {

// How far it is: called with a few words before each part of the work. May be empty.
using OnStep = std::function<void(const std::string& what)>;

struct TestBed {
  std::unique_ptr<Session> session;  // nullptr: the processor alone
  std::string fallback;              // why, where a device was asked for
  int trials = 5;
  OnStep on_step;

  void step(const std::string& what) const {
    if (on_step) on_step(what);
  }
  // A report of this name without rows, which names device, driver and processor.
  [[nodiscard]] Report start_report(const std::string& bench) const;
};

// On the device that `request` names as choose_devices() takes it ("cpu": no device). Programs come
// from the user's cache. Throws DeviceError where `require_device` and it does not
// work; UsageError.
[[nodiscard]] TestBed make_test_bed(const std::string& request, bool require_device);

// The processor's name as the system gives it; "processor" where it gives none.
[[nodiscard]] std::string processor_name();

// A GPU's memory is wide: it takes larger work to fill it.
[[nodiscard]] bool has_gpu(const TestBed& bed);

}  // namespace gpufilter::bench

// What benchmarks run on: a device, or the processor alone.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "device/session.hpp"
#include "lab/bench/report.hpp"

namespace gpufilter::lab {

// Reports progress: called with a few words before each part of the work. May be empty.
using OnStep = std::function<void(const std::string& what)>;

struct TestBed {
  std::shared_ptr<Session> session;  // nullptr: the processor alone
  std::string fallback;              // why, if a device was requested
  int trials = 5;
  OnStep on_step;

  void step(const std::string& what) const {
    if (on_step) on_step(what);
  }
  // A report of this name without rows, which names device, driver and processor.
  [[nodiscard]] Report start_report(const std::string& bench) const;
};

// `request` as in choose_devices() ("cpu": no device). Programs come from the user's cache. Throws
// UsageError, and DeviceError if the device does not work and `require_device` is set.
[[nodiscard]] TestBed make_test_bed(const std::string& request, bool require_device);

// The processor's name according to the system; "processor" if unknown.
[[nodiscard]] std::string processor_name();

// Before work that takes `bytes` of the host's memory and buffers of up to `buffer_bytes` on the
// device: throws UsageError if this machine has less. `subject` is what asks for it: "--sizes
// 16384".
void check_memory(const TestBed& bed, const std::string& subject, double bytes,
                  double buffer_bytes);

// GPUs need larger inputs to be fully used.
[[nodiscard]] bool has_gpu(const TestBed& bed);

}  // namespace gpufilter::lab

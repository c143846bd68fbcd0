// Spans of time on one clock, from host code and from OpenCL's event profiling, which the timing
// report sums up and the trace file shows; durations as numbers; and how long an operation takes.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gpufilter {

// Nanoseconds on the steady clock; only differences mean anything.
using Nanoseconds = std::int64_t;
[[nodiscard]] Nanoseconds now();

// Activities in processing order, which reports keep.
enum class Activity {
  find_devices,
  start_device,
  build_program,
  decode,
  read_back,  // of a picture that was kept between two walks
  upload,
  launch,  // a kernel waits although its queue is free
  kernel,
  download,
  encode,
  read_stored,  // of a picture that is not decoded
  write_stored
};
[[nodiscard]] const char* activity_name(Activity activity);

struct Span {
  Activity activity;
  int pass = -1;  // index of the report's pass, for kernels and programs; otherwise -1
  int walk = 0;   // how many times the picture was read before
  Nanoseconds start = 0;
  Nanoseconds duration = 0;
  std::uint64_t bytes = 0;  // read plus written
  int first_row = 0;        // of the band's output
  int rows = 0;             // 0: no band
};

// Collects spans. Thread-safe.
class Timeline {
 public:
  // Destructors call it, so it does not throw: without memory, a span is missing in the report.
  void add(const Span& span) noexcept;
  [[nodiscard]] std::vector<Span> spans() const;
  // Detaches the spans so far from passes: those of a failed device are not reported.
  void clear_passes();

 private:
  mutable std::mutex mutex_;
  std::vector<Span> spans_;
};

// Adds the span between its construction and its destruction.
class ScopedSpan {
 public:
  ScopedSpan(Timeline& timeline, Span span) : timeline_(timeline), span_(span) {
    span_.start = now();
  }
  ~ScopedSpan() {
    span_.duration = now() - span_.start;
    timeline_.add(span_);
  }
  ScopedSpan(const ScopedSpan&) = delete;
  ScopedSpan& operator=(const ScopedSpan&) = delete;

 private:
  Timeline& timeline_;
  Span span_;
};

[[nodiscard]] inline double seconds(Nanoseconds duration) {
  return static_cast<double>(duration) / 1e9;
}

[[nodiscard]] inline double milliseconds(Nanoseconds duration) {
  return static_cast<double>(duration) / 1e6;
}

// How long an operation takes, as far as whoever does it knows before anything was measured.
struct Rate {
  Rate() = default;
  Rate(std::string operation, double host_seconds, double device_seconds)
      : kind(std::move(operation)), host(host_seconds), device(device_seconds) {}

  // "blur 8": operations of one kind take equal time.
  std::string kind;
  // Seconds for an operation, until runs have measured it (RateStore): on one core with AVX2, and
  // on a desktop GPU with 400 GB/s of memory bandwidth on PCIe 3. 0: it is not done there.
  double host = 0;
  double device = 0;
};

}  // namespace gpufilter

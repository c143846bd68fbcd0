#include "base/timeline.hpp"

#include <chrono>
#include <new>

namespace gpufilter {

Nanoseconds now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

const char* activity_name(Activity activity) {
  switch (activity) {
    case Activity::find_devices:
      return "find devices";
    case Activity::start_device:
      return "start device";
    case Activity::build_program:
      return "build program";
    case Activity::decode:
      return "decode";
    case Activity::read_back:
      return "read back";
    case Activity::upload:
      return "upload";
    case Activity::launch:
      return "launch";
    case Activity::kernel:
      return "kernel";
    case Activity::download:
      return "download";
    case Activity::encode:
      return "encode";
    case Activity::read_stored:
      return "read undecoded";
    case Activity::write_stored:
      return "write undecoded";
  }
  return "?";
}

void Timeline::add(const Span& span) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    spans_.push_back(span);
  } catch (const std::bad_alloc&) {
  }
}

std::vector<Span> Timeline::spans() const {
  const std::lock_guard lock(mutex_);
  return spans_;
}

void Timeline::clear_passes() {
  const std::lock_guard lock(mutex_);
  for (Span& span : spans_)
    span.pass = -1;
}

}  // namespace gpufilter

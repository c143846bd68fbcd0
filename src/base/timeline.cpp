#include "base/timeline.hpp"

#include <array>
#include <chrono>
#include <new>

namespace gpufilter {

Nanoseconds now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

const char* activity_name(Activity activity) {
  static constexpr std::array names{"find devices", "start device",   "build program",
                                    "decode",       "read back",      "upload",
                                    "launch",       "kernel",         "download",
                                    "encode",       "read undecoded", "write undecoded"};
  return names.at(static_cast<std::size_t>(activity));
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

// Tells ThreadSanitizer about the order of oneTBB's tasks. Distributions' oneTBB is not
// instrumented, so everything that two ordered tasks share would be reported as a race. Without the
// sanitizer these calls do nothing.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define GPUFILTER_ANNOTATES_ORDER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GPUFILTER_ANNOTATES_ORDER 1
#endif
#endif

#ifdef GPUFILTER_ANNOTATES_ORDER
#include <sanitizer/tsan_interface.h>
#endif

namespace gpufilter {

// Everything that this thread did so far happens before a later happens_after() with this address.
inline void happens_before([[maybe_unused]] const void* address) {
#ifdef GPUFILTER_ANNOTATES_ORDER
  __tsan_release(const_cast<void*>(address));
#endif
}

inline void happens_after([[maybe_unused]] const void* address) {
#ifdef GPUFILTER_ANNOTATES_ORDER
  __tsan_acquire(const_cast<void*>(address));
#endif
}

// Call happens_before() and happens_after() at the end of their scope, which may be an exception.
class HappensBefore {
 public:
  explicit HappensBefore(const void* address) : address_(address) {}
  ~HappensBefore() { happens_before(address_); }
  HappensBefore(const HappensBefore&) = delete;
  HappensBefore& operator=(const HappensBefore&) = delete;

 private:
  const void* address_;
};

class HappensAfter {
 public:
  explicit HappensAfter(const void* address) : address_(address) {}
  ~HappensAfter() { happens_after(address_); }
  HappensAfter(const HappensAfter&) = delete;
  HappensAfter& operator=(const HappensAfter&) = delete;

 private:
  const void* address_;
};

}  // namespace gpufilter

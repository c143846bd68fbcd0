// What a thread sanitizer cannot see by itself: oneTBB orders tasks, but as distributions package
// it it is not instrumented, and everything that two ordered tasks share would be reported as a
// race. Without a thread sanitizer these calls are nothing.
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

// What this thread did before is done for whoever calls happens_after() with the same address.
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

}  // namespace gpufilter

// Loops that are compiled for several generations of processors.
#pragma once

// Before a function: it and all that it calls are compiled for each of these, and the program takes
// the best one for its machine when it is loaded, which is before a sanitizer is ready for it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define GPUFILTER_CLONES \
  [[gnu::flatten, gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define GPUFILTER_CLONES
#endif

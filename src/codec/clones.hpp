// Loops that are compiled for several generations of processors.
#pragma once

// Compiles a function, with everything inlined into it, for each of these. The loader chooses the
// best one for the machine; sanitizers are not ready at that time, so they do without.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define GPUFILTER_CLONES \
  [[gnu::flatten, gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define GPUFILTER_CLONES
#endif

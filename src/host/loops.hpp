// Compiles a loop for every instruction set and runs the version for the set in use.
//
// A loop is a type with a member
//   template <InstructionSet set> [[gnu::always_inline]] static void run(Arguments...)
// run_loop<Loop>(arguments...) calls it from a function compiled for the set in use. Everything
// that it calls and that matters for its speed is [[gnu::always_inline]] as well, because functions
// that are not inlined are compiled for the baseline. Compiling whole files for an instruction set
// would risk that the linker picks a standard-library function that other machines cannot run.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "host/instruction_set.hpp"

namespace gpufilter {

#ifdef __x86_64__
#ifdef __clang__
#define GPUFILTER_TARGET_AVX512 "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi,bmi2"
#else  // GCC prefers vectors of 256 bits
#define GPUFILTER_TARGET_AVX512 \
  "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi,bmi2,prefer-vector-width=512"
#endif

template <typename Loop, typename... Arguments>
[[gnu::target("avx2,fma,bmi,bmi2")]] void compiled_for_avx2(Arguments... arguments) {
  Loop::template run<InstructionSet::avx2>(arguments...);
}

template <typename Loop, typename... Arguments>
[[gnu::target(GPUFILTER_TARGET_AVX512)]] void compiled_for_avx512(Arguments... arguments) {
  Loop::template run<InstructionSet::avx512>(arguments...);
}
#undef GPUFILTER_TARGET_AVX512
#endif

template <typename Loop, typename... Arguments>
void compiled_for_baseline(Arguments... arguments) {
  Loop::template run<InstructionSet::baseline>(arguments...);
}

template <typename Loop, typename... Arguments>
void run_loop(Arguments... arguments) {
  switch (instruction_set()) {
#ifdef __x86_64__
    case InstructionSet::avx512:
      return compiled_for_avx512<Loop>(arguments...);
    case InstructionSet::avx2:
      return compiled_for_avx2<Loop>(arguments...);
#endif
    default:
      return compiled_for_baseline<Loop>(arguments...);
  }
}

// Runs a loop that is compiled for the type of the samples, which are 8 or 16 bits deep.
template <template <typename Sample> typename Loop, typename... Arguments>
void run_loop_of_depth(int depth, Arguments... arguments) {
  depth == 8 ? run_loop<Loop<std::uint8_t>>(arguments...)
             : run_loop<Loop<std::uint16_t>>(arguments...);
}

// Reads a number from memory at any alignment, in the machine's byte order.
template <typename Number>
[[gnu::always_inline]] inline Number load(const void* from) {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return number;
}

template <typename Number>
[[gnu::always_inline]] inline void store(void* to, Number number) {
  std::memcpy(to, &number, sizeof number);
}

}  // namespace gpufilter

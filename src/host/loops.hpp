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
#include <stdexcept>

#include "host/instruction_set.hpp"

// Functions that take vectors are inlined into those that are compiled for them.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace gpufilter {

#ifdef __x86_64__
#ifdef __clang__
#define GPUFILTER_TARGET_AVX512 "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi,bmi2"
#else  // GCC prefers vectors of 256 bits
#define GPUFILTER_TARGET_AVX512 \
  "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi,bmi2,prefer-vector-width=512"
#endif
#define GPUFILTER_COMPILED_FOR(set, instructions)                             \
  template <typename Loop, typename... Arguments>                             \
  [[gnu::target(instructions)]] void loop_for_##set(Arguments... arguments) { \
    Loop::template run<InstructionSet::set>(arguments...);                    \
  }
GPUFILTER_COMPILED_FOR(avx2, "avx2,fma,bmi,bmi2")
GPUFILTER_COMPILED_FOR(avx512, GPUFILTER_TARGET_AVX512)
GPUFILTER_COMPILED_FOR(avx512_vnni, GPUFILTER_TARGET_AVX512 ",avx512vnni")
GPUFILTER_COMPILED_FOR(avx512_vbmi, GPUFILTER_TARGET_AVX512 ",avx512vnni,avx512vbmi")
#undef GPUFILTER_COMPILED_FOR
#undef GPUFILTER_TARGET_AVX512
#elif defined(__aarch64__)
template <typename Loop, typename... Arguments>
[[gnu::target("arch=armv8.2-a+dotprod")]] void loop_for_neon_dot(Arguments... arguments) {
  Loop::template run<InstructionSet::neon_dot>(arguments...);
}
#endif

template <typename Loop, typename... Arguments>
void loop_for_baseline(Arguments... arguments) {
  Loop::template run<InstructionSet::baseline>(arguments...);
}

// The loop compiled for `set`; nullptr if that is a set of another architecture.
template <InstructionSet set, typename Loop, typename... Arguments>
constexpr auto loop_for() -> void (*)(Arguments...) {
  if constexpr (set == InstructionSet::baseline) return loop_for_baseline<Loop, Arguments...>;
#ifdef __x86_64__
  if constexpr (set == InstructionSet::avx2) return loop_for_avx2<Loop, Arguments...>;
  if constexpr (set == InstructionSet::avx512) return loop_for_avx512<Loop, Arguments...>;
  if constexpr (set == InstructionSet::avx512_vnni) return loop_for_avx512_vnni<Loop, Arguments...>;
  if constexpr (set == InstructionSet::avx512_vbmi) return loop_for_avx512_vbmi<Loop, Arguments...>;
#elif defined(__aarch64__)
  if constexpr (set == InstructionSet::neon_dot) return loop_for_neon_dot<Loop, Arguments...>;
#endif
  return nullptr;
}

// Compiles a loop for these sets alone, in ascending order; runs the best of them that the set in
// use includes. Throws std::logic_error if it includes none.
template <typename Loop, InstructionSet... sets, typename... Arguments>
void run_loop_of_sets(Arguments... arguments) {
  const InstructionSet in_use = instruction_set();
  void (*loop)(Arguments...) = nullptr;
  const auto consider = [&](InstructionSet set, void (*compiled)(Arguments...)) {
    if (compiled != nullptr && in_use >= set) loop = compiled;
  };
  (consider(sets, loop_for<sets, Loop, Arguments...>()), ...);
  if (loop == nullptr) throw std::logic_error("a loop is not for the instruction set in use");
  loop(arguments...);
}

// The same for the baseline as well: for every set in use.
template <typename Loop, InstructionSet... sets, typename... Arguments>
void run_best_loop(Arguments... arguments) {
  run_loop_of_sets<Loop, InstructionSet::baseline, sets...>(arguments...);
}

// Plain loops, which the compiler vectorises: it finds nothing in the other sets for them.
template <typename Loop, typename... Arguments>
void run_loop(Arguments... arguments) {
  run_best_loop<Loop, InstructionSet::avx2, InstructionSet::avx512>(arguments...);
}

// Loops that multiply pairs or fours of small integers (host/vectors.hpp).
template <typename Loop, typename... Arguments>
void run_products_loop(Arguments... arguments) {
  run_best_loop<Loop, InstructionSet::neon_dot, InstructionSet::avx2, InstructionSet::avx512,
                InstructionSet::avx512_vnni>(arguments...);
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
[[gnu::always_inline]] inline void store(void* to, const Number& number) {
  std::memcpy(to, &number, sizeof number);
}

}  // namespace gpufilter

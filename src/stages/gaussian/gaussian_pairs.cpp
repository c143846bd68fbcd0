#include "stages/gaussian/gaussian_pairs.hpp"

#ifdef __x86_64__
#include <algorithm>
#include <cstring>
#include <type_traits>

#include <immintrin.h>

namespace gpufilter {
namespace {

namespace baseline {
#define TARGET [[gnu::target("sse2")]]
#define VECTOR __m128i
#define OP(name) _mm_##name
#define PLUS_PRODUCTS(sums, a, b) OP(add_epi32)(sums, OP(madd_epi16)(a, b))
#include "stages/gaussian/gaussian_pairs.inc"
}  // namespace baseline

#define PAIR_LOOPS "stages/gaussian/gaussian_pairs.inc"
#include "stage/pair_sets.inc"

}  // namespace

const PairLoops& pair_loops(InstructionSet set) {
  static const bool has_vnni = __builtin_cpu_supports("avx512vnni") != 0;
  if (set == InstructionSet::avx512) return has_vnni ? vnni::loops : avx512::loops;
  return set == InstructionSet::avx2 ? avx2::loops : baseline::loops;
}

}  // namespace gpufilter
#endif

#include "stages/resize/resize_pairs.hpp"

#ifdef __x86_64__
#include <algorithm>
#include <cstring>

#include <immintrin.h>

namespace gpufilter {
namespace {

void store(std::int16_t* to, __m128i vector) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), vector);
}

namespace baseline {
#define TARGET [[gnu::target("sse2")]]
#define VECTOR __m128i
#define OP(name) _mm_##name
#define ZERO _mm_setzero_si128()
#define WIDEN(low, high, out)                       \
  store(out, _mm_unpacklo_epi8(low, ZERO));         \
  store((out) + 8, _mm_unpackhi_epi8(low, ZERO));   \
  store((out) + 16, _mm_unpacklo_epi8(high, ZERO)); \
  store((out) + 24, _mm_unpackhi_epi8(high, ZERO))
#define BY_CHANNEL(bytes) bytes
#include "stages/resize/resize_pairs.inc"
}  // namespace baseline

namespace avx2 {
#define TARGET [[gnu::target("avx2")]]
#define VECTOR __m256i
#define OP(name) _mm256_##name
#define ZERO _mm256_setzero_si256()
#define WIDEN(low, high, out)                                                      \
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_cvtepu8_epi16(low)); \
  _mm256_storeu_si256(reinterpret_cast<__m256i*>((out) + 16), _mm256_cvtepu8_epi16(high))
#define BY_CHANNEL(bytes) \
  _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
#include "stages/resize/resize_pairs.inc"
}  // namespace avx2

}  // namespace

const ResizeLoops& resize_loops(InstructionSet set) {
  return set == InstructionSet::baseline ? baseline::loops : avx2::loops;
}

}  // namespace gpufilter
#endif

#include "net/net_integer_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "host/instruction_set.hpp"
#include "net/net_planes.hpp"

namespace gpufilter {
namespace {

// Weight i of a word.
inline std::int32_t weight_of(std::uint32_t word, unsigned i) {
  return static_cast<std::int8_t>(word >> (8 * i));
}

namespace baseline {
#define TARGET
#define VECTOR_BYTES 16
#define TILE_BLOCKS 1
#define TILE_VECTORS 2
using Words [[gnu::vector_size(VECTOR_BYTES)]] = std::uint32_t;
using Ints [[gnu::vector_size(VECTOR_BYTES)]] = std::int32_t;
struct Factors {
  Words bytes[4];
};

inline Factors factors_of(Words words) {
  return {words & 255, words >> 8 & 255, words >> 16 & 255, words >> 24};
}

inline Words add_products(Words sums, const Factors& factors, std::uint32_t weights) {
  for (unsigned i = 0; i < 4; ++i)
    sums += factors.bytes[i] * static_cast<std::uint32_t>(weight_of(weights, i));
  return sums;
}
#include "net/net_integer_rows.inc"
}  // namespace baseline

#ifdef __x86_64__
// Two weights as numbers of 16 bits: 0 and 2, or 1 and 3.
inline int pair_of(std::uint32_t weights, unsigned first) {
  return static_cast<int>(static_cast<std::uint32_t>(weight_of(weights, first)) & 0xffffU) |
         static_cast<int>(static_cast<std::uint32_t>(weight_of(weights, first + 2)) << 16U);
}

namespace avx2 {
#define TARGET [[gnu::target("avx2")]]
#define VECTOR_BYTES 32
#define TILE_BLOCKS 1
#define TILE_VECTORS 2
using Words [[gnu::vector_size(VECTOR_BYTES)]] = std::uint32_t;
using Ints [[gnu::vector_size(VECTOR_BYTES)]] = std::int32_t;
struct Factors {
  __m256i even, odd;
};

TARGET inline Factors factors_of(Words words) {
  return {reinterpret_cast<__m256i>(words & 0x00ff00ff),
          reinterpret_cast<__m256i>(words >> 8 & 0x00ff00ff)};
}

TARGET inline Words add_products(Words sums, const Factors& factors, std::uint32_t weights) {
  const __m256i even = _mm256_madd_epi16(factors.even, _mm256_set1_epi32(pair_of(weights, 0)));
  const __m256i odd = _mm256_madd_epi16(factors.odd, _mm256_set1_epi32(pair_of(weights, 1)));
  return sums + reinterpret_cast<Words>(even) + reinterpret_cast<Words>(odd);
}
#include "net/net_integer_rows.inc"
}  // namespace avx2

namespace avx512 {
#define TARGET [[gnu::target("avx512f,avx512bw")]]
#define VECTOR_BYTES 64
#define TILE_BLOCKS 1
#define TILE_VECTORS 4
using Words [[gnu::vector_size(VECTOR_BYTES)]] = std::uint32_t;
using Ints [[gnu::vector_size(VECTOR_BYTES)]] = std::int32_t;
struct Factors {
  __m512i even, odd;
};

TARGET inline Factors factors_of(Words words) {
  return {reinterpret_cast<__m512i>(words & 0x00ff00ff),
          reinterpret_cast<__m512i>(words >> 8 & 0x00ff00ff)};
}

TARGET inline Words add_products(Words sums, const Factors& factors, std::uint32_t weights) {
  const __m512i even = _mm512_madd_epi16(factors.even, _mm512_set1_epi32(pair_of(weights, 0)));
  const __m512i odd = _mm512_madd_epi16(factors.odd, _mm512_set1_epi32(pair_of(weights, 1)));
  return sums + reinterpret_cast<Words>(even) + reinterpret_cast<Words>(odd);
}
#include "net/net_integer_rows.inc"
}  // namespace avx512

namespace vnni {
#define TARGET [[gnu::target("avx512f,avx512bw,avx512vnni")]]
#define VECTOR_BYTES 64
#define TILE_BLOCKS 2
#define TILE_VECTORS 3
using Words [[gnu::vector_size(VECTOR_BYTES)]] = std::uint32_t;
using Ints [[gnu::vector_size(VECTOR_BYTES)]] = std::int32_t;
using Factors = Words;

TARGET inline Factors factors_of(Words words) {
  return words;
}

TARGET inline Words add_products(Words sums, Factors factors, std::uint32_t weights) {
  return reinterpret_cast<Words>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sums),
                                                     reinterpret_cast<__m512i>(factors),
                                                     _mm512_set1_epi32(static_cast<int>(weights))));
}
#include "net/net_integer_rows.inc"
}  // namespace vnni
#endif

void (*compute_row())(const NetIntegerRow&) {
#ifdef __x86_64__
  switch (instruction_set()) {
    case InstructionSet::avx512_vbmi:
    case InstructionSet::avx512_vnni:
      return vnni::compute_row;
    case InstructionSet::avx512:
      return avx512::compute_row;
    case InstructionSet::avx2:
      return avx2::compute_row;
    default:
      break;
  }
#endif
  return baseline::compute_row;
}

}  // namespace

void net_integer_rows(const NetIntegerRows& rows) {
  const auto compute = compute_row();
  for (std::size_t y = 0; y < rows.rows; ++y)
    compute(rows.row(y));
}

}  // namespace gpufilter

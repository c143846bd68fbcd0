#include "stages/gaussian/gaussian_quads.hpp"

#ifdef __x86_64__
#include <algorithm>
#include <array>
#include <cstdlib>

#include <immintrin.h>

#include "host/instruction_set.hpp"

// GCC warns of undefined values within its own intrinsics.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#define TARGET [[gnu::target("avx512f,avx512bw,avx512vbmi,avx512vnni")]]

namespace gpufilter {
namespace {

using std::size_t;

constexpr size_t block = 64;  // numbers
// Sums for a block. Packing two of them interleaves groups of four: each has every second group.
constexpr size_t vectors = 4;
constexpr std::array<size_t, vectors> first_numbers{0, 4, 32, 36};

// The positions of the bytes that are multiplied for each sum of a vector, from `first` on.
using Places = std::array<std::uint8_t, block>;
Places places_of(size_t step, size_t first) {
  Places places;
  for (size_t i = 0; i < places.size(); ++i) {
    const size_t sum = i / 4;
    places[i] = static_cast<std::uint8_t>(first + sum / 4 * 8 + sum % 4 + i % 4 * step);
  }
  return places;
}

// Vectors of numbers: with __m512i GCC 12 copies each sum twice.
using Numbers [[gnu::vector_size(block)]] = std::int32_t;

TARGET inline Numbers plus_products(Numbers sum, __m512i bytes, std::uint32_t weights) {
  return reinterpret_cast<Numbers>(_mm512_dpbusd_epi32(
      reinterpret_cast<__m512i>(sum), bytes, _mm512_set1_epi32(static_cast<int>(weights))));
}

TARGET inline __m512i packed(Numbers first, Numbers second) {
  return _mm512_packs_epi32(reinterpret_cast<__m512i>(first), reinterpret_cast<__m512i>(second));
}

// `places` are for two vectors, whose bytes come from one load: a load across cache lines takes as
// long as four products.
TARGET void fill_block(const std::uint8_t* in, const __m512i* places, size_t quad_step,
                       const std::vector<WeightQuad>& quads, std::int16_t* out,
                       std::int16_t* rest) {
  Numbers high[vectors] = {};
  Numbers low[vectors];
  for (Numbers& sums : low)
    sums = Numbers{} + (1 << 7);
  for (const WeightQuad& quad : quads) {
    for (size_t pair = 0; pair < vectors; pair += 2) {
      __m512i bytes = _mm512_loadu_si512(in + first_numbers[pair]);
      asm("" : "+v"(bytes));  // GCC 12 would load them for each vector
      for (size_t i = pair; i < pair + 2; ++i) {
        const __m512i samples = _mm512_permutexvar_epi8(places[i - pair], bytes);
        high[i] = plus_products(high[i], samples, quad.high);
        low[i] = plus_products(low[i], samples, quad.low);
      }
    }
    in += quad_step;
  }
  for (size_t i = 0; i < vectors; i += 2) {
    _mm512_storeu_si512(out + first_numbers[i],
                        packed(high[i] + (low[i] >> 8), high[i + 1] + (low[i + 1] >> 8)));
  }
  if (rest == nullptr) return;
  for (size_t i = 0; i < vectors; i += 2)
    _mm512_storeu_si512(rest + first_numbers[i], packed(low[i] & 0xff, low[i + 1] & 0xff));
}

}  // namespace

bool takes_gaussian_quads(const std::vector<std::int32_t>& weights) {
  constexpr std::int32_t largest = 127 * 256 + 127;
  return instruction_set() >= InstructionSet::avx512_vbmi && weights.front() <= largest;
}

std::vector<WeightQuad> quads_of(const std::vector<std::int32_t>& weights) {
  const int radius = static_cast<int>(weights.size()) - 1;
  std::vector<WeightQuad> quads(static_cast<size_t>(2 * radius + 4) / 4);
  for (int i = 0; i <= 2 * radius; ++i) {
    const std::int32_t weight = weights[static_cast<size_t>(std::abs(i - radius))];
    const std::int32_t high = (weight + 128) >> 8;
    const int shift = i % 4 * 8;
    WeightQuad& quad = quads[static_cast<size_t>(i / 4)];
    quad.high |= static_cast<std::uint32_t>(high) << shift;
    quad.low |= (static_cast<std::uint32_t>(weight - 256 * high) & 0xffU) << shift;
  }
  return quads;
}

TARGET size_t quads_along_row(const std::uint8_t* in, size_t count, size_t step,
                              const std::vector<WeightQuad>& quads, std::int16_t* out,
                              std::int16_t* rest) {
  if (count < block) return 0;
  const Places first = places_of(step, first_numbers[0]);
  const Places second = places_of(step, first_numbers[1]);
  const __m512i places[] = {_mm512_loadu_si512(first.data()), _mm512_loadu_si512(second.data())};
  // The last block computes some values again.
  for (size_t i = 0; i < count; i += block) {
    const size_t at = std::min(i, count - block);
    fill_block(in + at, places, 4 * step, quads, out + at, rest == nullptr ? rest : rest + at);
  }
  return count;
}

}  // namespace gpufilter

#undef TARGET
#endif

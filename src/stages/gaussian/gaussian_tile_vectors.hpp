// Shared by the loops of gaussian_tile_loops.hpp: AVX-512 vectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stages/gaussian/gaussian_tile_loops.hpp"

#ifdef __x86_64__
#include <immintrin.h>

#define GAUSSIAN_TARGET [[gnu::target("avx512f,avx512bw,avx512vbmi,avx512vnni")]]
#define GAUSSIAN_INLINED GAUSSIAN_TARGET [[gnu::always_inline]] inline

namespace gpufilter::gaussian_tiles {

// Vectors of numbers: with __m512i GCC 12 copies each sum twice.
using Numbers [[gnu::vector_size(64)]] = std::int32_t;
inline constexpr std::size_t lanes = 16;
inline constexpr std::size_t vectors = gaussian_block / lanes;  // of sums

// Places of bytes in a vector.
using Places = std::array<std::uint8_t, 64>;

GAUSSIAN_INLINED __m512i load(const void* from) {
  return _mm512_loadu_si512(from);
}

GAUSSIAN_INLINED __m512i everywhere(std::uint32_t weights) {
  return _mm512_set1_epi32(static_cast<int>(weights));
}

}  // namespace gpufilter::gaussian_tiles
#endif

#include "stages/colour/color_vectors.hpp"

#ifdef __x86_64__
#include <array>
#include <cstring>

#include <immintrin.h>

#include "host/pixels.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t lane = 16;  // bytes that shuffles do not leave: four pixels

// For vectors of `bytes` bytes. channel[c]: the samples of a channel as 32-bit numbers, from packed
// pixels at the start of each lane. to_pixels: from all red samples of a lane, then green ... to
// packed pixels.
template <std::size_t bytes, std::size_t channels>
struct LaneShuffles {
  using Shuffle = std::array<std::uint8_t, bytes>;
  alignas(bytes) std::array<Shuffle, 3> channel{};
  alignas(bytes) Shuffle to_pixels{};

  constexpr LaneShuffles() {
    constexpr std::uint8_t zero = 0x80;
    for (std::size_t i = 0; i < bytes; ++i) {
      const std::size_t at = i % lane;
      for (std::size_t c = 0; c < 3; ++c)
        channel[c][i] = at % 4 == 0 ? static_cast<std::uint8_t>(at / 4 * channels + c) : zero;
      const std::size_t place = at % channels * 4 + at / channels;
      to_pixels[i] = at < 4 * channels ? static_cast<std::uint8_t>(place) : zero;
    }
  }
};

namespace avx2 {
#define TARGET [[gnu::target("avx2,fma")]]
#define VECTOR __m256i
#define FLOATS __m256
#define OP(name) _mm256_##name
#include "stages/colour/color_vectors.inc"
}  // namespace avx2

// GCC takes what its own intrinsics leave undefined for a mistake.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
namespace avx512 {
#define TARGET [[gnu::target("avx512f,avx512bw")]]
#define VECTOR __m512i
#define FLOATS __m512
#define OP(name) _mm512_##name
#include "stages/colour/color_vectors.inc"
}  // namespace avx512
#pragma GCC diagnostic pop

}  // namespace

std::size_t color_vectors(InstructionSet set, std::size_t channels, const std::uint8_t* in,
                          std::size_t count, const ColorCoefficients& numbers, std::uint8_t* out) {
  if (set == InstructionSet::baseline || channels < 3) return 0;
  const bool wide = set == InstructionSet::avx512;
  auto* transform = channels == 3 ? (wide ? avx512::transform<3> : avx2::transform<3>)
                                  : (wide ? avx512::transform<4> : avx2::transform<4>);
  return transform(in, count, numbers.data(), out);
}

}  // namespace gpufilter
#endif

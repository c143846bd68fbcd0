#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "host/arithmetic.hpp"
#include "host/instruction_set.hpp"
#include "host/pixels.hpp"
#include "stages/colour/color.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace gpufilter {
namespace {

using std::size_t;

#ifdef __x86_64__
// The inner loop of --color for 8-bit pixels whose colours depend on colours alone, by instructions
// that no compiler chooses for a plain loop: bytes to floats by shuffles, and back by packing with
// saturation.

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

// Transforms as many of `count` pixels of `channels`, 3 or 4, as whole vectors can without touching
// memory after them; returns their number. Alpha stays. The result has the channels of the source;
// the weights of alpha are taken to be 0.
std::size_t color_vectors(InstructionSet set, std::size_t channels, const std::uint8_t* in,
                          std::size_t count, const ColorCoefficients& numbers, std::uint8_t* out) {
  if (set == InstructionSet::baseline || channels < 3) return 0;
  const bool wide = set >= InstructionSet::avx512;
  auto* transform = channels == 3 ? (wide ? avx512::transform<3> : avx2::transform<3>)
                                  : (wide ? avx512::transform<4> : avx2::transform<4>);
  return transform(in, count, numbers.data(), out);
}
#endif

// Pixels that are converted to RGBA, transformed and converted back while in the first-level cache.
constexpr size_t block_pixels = 512;

// Row `row` of the matrix times a pixel. Each sum is one chain, in this order. It is written and
// called without a loop: GCC would not unroll it or vectorise the loop around it.
template <InstructionSet set, size_t row, typename Sample>
[[gnu::always_inline]] inline std::uint32_t product(const ColorCoefficients& numbers,
                                                    const std::array<float, 4>& pixel) {
  float sum = numbers[5 * row + 4];
  sum = fused_multiply_add<set>(numbers[5 * row], pixel[0], sum);
  sum = fused_multiply_add<set>(numbers[5 * row + 1], pixel[1], sum);
  sum = fused_multiply_add<set>(numbers[5 * row + 2], pixel[2], sum);
  sum = fused_multiply_add<set>(numbers[5 * row + 3], pixel[3], sum);
  return to_sample<Sample>(sum);
}

// RGBA to RGBA.
template <InstructionSet set, bool keeps_alpha, typename Sample>
[[gnu::always_inline]] inline void transform(const Sample* __restrict in, size_t count,
                                             const ColorCoefficients& numbers,
                                             Sample* __restrict out) {
  for (size_t i = 0; i < count; ++i) {
    const auto pixel = Pixel<Sample, 4>::read(in + 4 * i);
    const std::array<float, 4> x{static_cast<float>(pixel.get(0)), static_cast<float>(pixel.get(1)),
                                 static_cast<float>(pixel.get(2)),
                                 static_cast<float>(pixel.get(3))};
    Pixel<Sample, 4> result;
    result.put(0, product<set, 0, Sample>(numbers, x));
    result.put(1, product<set, 1, Sample>(numbers, x));
    result.put(2, product<set, 2, Sample>(numbers, x));
    result.put(3, keeps_alpha ? static_cast<std::uint32_t>(pixel.get(3))
                              : product<set, 3, Sample>(numbers, x));
    result.write(out + 4 * i);
  }
}

template <typename Sample, bool keeps_alpha>
struct ColorLoop {
  template <InstructionSet set, size_t channels>
  [[gnu::always_inline]] static void run_row(const Sample* in, size_t width,
                                             const ColorCoefficients& numbers, bool has_alpha,
                                             Sample* out) {
    alignas(64) std::array<Sample, 4 * block_pixels> before;
    alignas(64) std::array<Sample, 4 * block_pixels> after;
    for (size_t x = 0; x < width; x += block_pixels) {
      const size_t count = std::min(block_pixels, width - x);
      const Sample* pixels = in + channels * x;
      Sample* results = has_alpha ? out + 4 * x : after.data();
      if constexpr (channels != 4) {
        to_rgba<set, channels>(pixels, count, before.data());
        pixels = before.data();
      }
      transform<set, keeps_alpha>(pixels, count, numbers, results);
      if (!has_alpha) to_rgb<set>(results, count, out + 3 * x);
    }
  }

  // The pixels of a row that a faster loop transforms.
  template <InstructionSet set>
  static size_t vectors([[maybe_unused]] const Sample* in, [[maybe_unused]] size_t channels,
                        [[maybe_unused]] size_t width,
                        [[maybe_unused]] const ColorCoefficients& numbers,
                        [[maybe_unused]] Sample* out) {
#ifdef __x86_64__
    const bool reads_alpha = numbers[3] != 0 || numbers[8] != 0 || numbers[13] != 0;
    if constexpr (sizeof(Sample) == 1 && keeps_alpha) {
      if (!reads_alpha) return color_vectors(set, channels, in, width, numbers, out);
    }
#endif
    return 0;
  }

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         const ColorCoefficients numbers) {
    const auto channels = static_cast<size_t>(source.format.channels);
    const bool has_alpha = target.format.has_alpha();
    for (int y = target.rows.begin; y < target.rows.end; ++y) {
      const auto* in = reinterpret_cast<const Sample*>(source.row(y));
      auto* out = reinterpret_cast<Sample*>(target.row(y));
      const auto all = static_cast<size_t>(source.width);
      const size_t done = vectors<set>(in, channels, all, numbers, out);
      const size_t width = all - done;
      in += channels * done;
      out += (has_alpha ? 4 : 3) * done;
      switch (channels) {
        case 1:
          run_row<set, 1>(in, width, numbers, has_alpha, out);
          break;
        case 2:
          run_row<set, 2>(in, width, numbers, has_alpha, out);
          break;
        case 3:
          run_row<set, 3>(in, width, numbers, has_alpha, out);
          break;
        default:
          run_row<set, 4>(in, width, numbers, has_alpha, out);
      }
    }
  }
};

template <typename Sample>
void color_rows_of(const ConstRows& source, const MutableRows& target, const ColorMatrix& matrix) {
  const ColorCoefficients numbers = color_coefficients(matrix, source.format);
  if (matrix.keeps_alpha()) {
    run_loop<ColorLoop<Sample, true>>(source, target, numbers);
  } else {
    run_loop<ColorLoop<Sample, false>>(source, target, numbers);
  }
}

}  // namespace

void color_rows(const ConstRows& source, const MutableRows& target, const ColorMatrix& matrix) {
  if (source.format.depth == 8) {
    color_rows_of<std::uint8_t>(source, target, matrix);
  } else {
    color_rows_of<std::uint16_t>(source, target, matrix);
  }
}

}  // namespace gpufilter

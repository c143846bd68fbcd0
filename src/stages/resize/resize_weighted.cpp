#include "stages/resize/resize_vectors.hpp"

#ifdef __x86_64__
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include <immintrin.h>

#include "host/instruction_set.hpp"
#include "stages/resize/resize_rows.hpp"

namespace gpufilter {
namespace {

using std::size_t;

#define TARGET [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]

constexpr size_t channels = 4;
constexpr size_t colors = channels - 1;
// Between the steps: colours, whether all taps are opaque, products with alpha.
constexpr size_t numbers = 2 * channels;
constexpr int shift = product_shift(8);
// GCC 12 warns of the instructions without a mask.
constexpr __mmask8 every = 0xFF;
constexpr int half = 1 << (ResizeTaps::weight_bits - 1);

// Rows that are computed together: their sums do not wait for each other.
constexpr size_t lines = 4;

// The 8 numbers of a pixel of 4 bytes: its samples, those of its colours times alpha, and alpha.
TARGET inline __m256i numbers_of(std::uint32_t pixel) {
  constexpr __mmask8 with_alpha = 0x70;
  const __m128i bytes = _mm_set1_epi32(static_cast<int>(pixel));
  const __m256i ones = _mm256_set1_epi32(1);
  const __m256i factors =
      _mm256_mask_srli_epi32(ones, with_alpha, _mm256_broadcastd_epi32(bytes), 24);
  return _mm256_madd_epi16(_mm256_cvtepu8_epi32(bytes), factors);
}

// Sums of whole numbers below 2^39, which are exact as doubles.
TARGET inline void store(__m512d sum, bool opaque, std::int32_t* out) {
  constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  const __m512i halves = _mm512_setr_epi64(half, half, half, half, 1 << (shift - 1),
                                           1 << (shift - 1), 1 << (shift - 1), 1 << (shift - 1));
  const __m512i shifts =
      _mm512_setr_epi64(ResizeTaps::weight_bits, ResizeTaps::weight_bits, ResizeTaps::weight_bits,
                        ResizeTaps::weight_bits, shift, shift, shift, shift);
  const __m512i low = _mm512_setr_epi64(0, 0, 0, 0, -highest, -highest, -highest, -highest);
  const __m512i high = _mm512_setr_epi64(255, 255, 255, 255, highest, highest, highest, highest);
  const __m512i whole = _mm512_add_epi64(_mm512_maskz_cvtpd_epi64(every, sum), halves);
  const __m512i shifted = _mm512_maskz_srav_epi64(every, whole, shifts);
  const __m256i results = _mm512_maskz_cvtepi64_epi32(
      every, _mm512_maskz_min_epi64(every, _mm512_maskz_max_epi64(every, shifted, low), high));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), results);
  out[colors] = opaque ? 1 : 0;
}

// `lines` rows; where there are fewer, some are the same.
TARGET void along_rows(const std::array<const std::uint8_t*, lines>& in,
                       const std::array<std::int32_t*, lines>& out, size_t width,
                       const ResizeTaps& taps) {
  constexpr std::uint32_t opaque_pixel = 0xFF000000U;
  const auto count = static_cast<size_t>(taps.count);
  const std::int32_t* weights = taps.weights.data();
  for (size_t x = 0; x < width; ++x, weights += count) {
    const size_t first = static_cast<size_t>(taps.first[x]) * channels;
    __m512d all[lines] = {};
    std::uint32_t opaque[lines] = {opaque_pixel, opaque_pixel, opaque_pixel, opaque_pixel};
    for (size_t k = 0; k < count; ++k) {
      const __m512d weight = _mm512_maskz_cvtepi32_pd(every, _mm256_set1_epi32(weights[k]));
      const std::uint32_t ignored = weights[k] == 0 ? opaque_pixel : 0;
      for (size_t line = 0; line < lines; ++line) {
        std::uint32_t pixel = 0;
        std::memcpy(&pixel, in[line] + first + k * channels, sizeof pixel);
        all[line] =
            _mm512_fmadd_pd(_mm512_maskz_cvtepi32_pd(every, numbers_of(pixel)), weight, all[line]);
        opaque[line] &= pixel | ignored;
      }
    }
    for (size_t line = 0; line < lines; ++line)
      store(all[line], opaque[line] == opaque_pixel, out[line] + x * numbers);
  }
}

inline std::uint8_t limited(std::int64_t sample) {
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sample, 0, 255));
}

TARGET inline void along_columns(const std::vector<const std::int32_t*>& rows,
                                 const std::int32_t* weights, size_t at, std::uint8_t* out) {
  __m512i all = _mm512_setzero_si512();
  std::int32_t opaque = 1;
  for (size_t k = 0; k < rows.size(); ++k) {
    const std::int32_t* from = rows[k] + at;
    const __m512i row = _mm512_maskz_cvtepi32_epi64(
        every, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    all = _mm512_add_epi64(all, _mm512_maskz_mul_epi32(every, row, _mm512_set1_epi32(weights[k])));
    opaque &= from[colors] | static_cast<std::int32_t>(weights[k] == 0);
  }
  std::array<std::int64_t, numbers> sum{};
  std::memcpy(sum.data(), &all, sizeof all);
  const std::int64_t alpha = sum[numbers - 1];
  constexpr std::int64_t half_alpha = std::int64_t{1} << (alpha_shift(8) - 1);
  for (size_t c = 0; c < colors; ++c)
    out[c] = limited((sum[c] + half) >> ResizeTaps::weight_bits);
  out[colors] = limited((alpha + half_alpha) >> alpha_shift(8));
  for (size_t c = 0; c < colors && opaque == 0 && alpha > 0; ++c)
    out[c] = limited((std::max<std::int64_t>(sum[channels + c], 0) + alpha / 2) / alpha);
}

}  // namespace

bool takes_weighted_vectors(const PixelFormat& format) {
  return format == PixelFormat{4, 8} && instruction_set() >= InstructionSet::avx512;
}

void resize_weighted_along_rows(const ConstRows& source, const MutableRows& target,
                                const ResizeTaps& taps) {
  const RowRange rows = target.rows;
  for (int y = rows.begin; y < rows.end; y += static_cast<int>(lines)) {
    std::array<const std::uint8_t*, lines> in{};
    std::array<std::int32_t*, lines> out{};
    for (size_t line = 0; line < lines; ++line) {
      const int row = std::min(y + static_cast<int>(line), rows.end - 1);
      in[line] = source.row(row);
      out[line] = reinterpret_cast<std::int32_t*>(target.row(row));
    }
    along_rows(in, out, static_cast<size_t>(target.width), taps);
  }
}

TARGET void resize_weighted_along_columns(const ConstRows& source, const MutableRows& target,
                                          const ResizeTaps& taps) {
  const auto count = static_cast<size_t>(taps.count);
  std::vector<const std::int32_t*> rows(count);
  for (int y = target.rows.begin; y < target.rows.end; ++y) {
    const auto at = static_cast<size_t>(y);
    for (size_t k = 0; k < count; ++k) {
      rows[k] =
          reinterpret_cast<const std::int32_t*>(source.row(taps.first[at] + static_cast<int>(k)));
    }
    const std::int32_t* weights = taps.weights.data() + at * count;
    std::uint8_t* out = target.row(y);
    for (size_t x = 0; x < static_cast<size_t>(target.width); ++x, out += channels)
      along_columns(rows, weights, x * numbers, out);
  }
}

#undef TARGET

}  // namespace gpufilter
#endif

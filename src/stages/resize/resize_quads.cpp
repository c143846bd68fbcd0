#include "stages/resize/resize_vectors.hpp"

#ifdef __x86_64__
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include <immintrin.h>

#include "host/instruction_set.hpp"

namespace gpufilter {
namespace {

using std::size_t;
using Quad = ResizeTaps::Quad;

#define TARGET [[gnu::target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vnni")]]

constexpr size_t vector_bytes = 64;
// Rows that are computed together along rows: one in each number of 32 bits of a vector.
constexpr size_t lines = 16;

struct alignas(vector_bytes) Aligned {
  std::array<std::uint8_t, vector_bytes> bytes;
};

using Numbers [[gnu::vector_size(vector_bytes)]] = std::int32_t;

// Number i of vector n becomes number n of vector i, by interleaving vectors four times.
TARGET inline void transpose(std::array<Numbers, lines>& from) {
  for (int round = 0; round < 4; ++round) {
    std::array<Numbers, lines> to;
    for (size_t n = 0; n < lines / 2; ++n) {
      const Numbers a = from[n];
      const Numbers b = from[n + lines / 2];
      to[2 * n] =
          __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      to[2 * n + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,
                                              14, 30, 15, 31);
    }
    from = to;
  }
}

// The first `count` bytes of a vector.
TARGET inline __mmask64 first_bytes(size_t count) {
  return ~__mmask64{0} >> (vector_bytes - count);
}

// Sums of bytes times the three numbers of the weights.
struct Sums {
  Numbers low;
  Numbers middle;
  Numbers high;
};

TARGET inline Sums no_sums() {
  return {Numbers{} + (1 << (ResizeTaps::weight_bits - 1)), Numbers{}, Numbers{}};
}

// The sum of `sum` and products. It takes vectors of numbers, because with __m512i GCC 12 copies
// each sum twice.
TARGET inline Numbers plus_products(Numbers sum, __m512i samples, std::int32_t weights) {
  return reinterpret_cast<Numbers>(
      _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum), samples, _mm512_set1_epi32(weights)));
}

TARGET inline void add(Sums& sums, __m512i samples, const Quad& weights) {
  sums.low = plus_products(sums.low, samples, weights.low);
  sums.middle = plus_products(sums.middle, samples, weights.middle);
  sums.high = plus_products(sums.high, samples, weights.high);
}

TARGET inline __m512i result_of(const Sums& sums) {
  using Unsigned [[gnu::vector_size(vector_bytes)]] = std::uint32_t;
  const auto sum = reinterpret_cast<Unsigned>(sums.low) +
                   (reinterpret_cast<Unsigned>(sums.middle) << 8) +
                   (reinterpret_cast<Unsigned>(sums.high) << 16);
  return reinterpret_cast<__m512i>(reinterpret_cast<Numbers>(sum) >> ResizeTaps::weight_bits);
}

// Four results as bytes, those of each 128 bits together.
TARGET inline __m512i packed(const Sums* sums) {
  return _mm512_packus_epi16(_mm512_packs_epi32(result_of(sums[0]), result_of(sums[1])),
                             _mm512_packs_epi32(result_of(sums[2]), result_of(sums[3])));
}

template <size_t channels>
class AlongRows {
 public:
  AlongRows(const ResizeTaps& taps, const std::vector<Quad>& quads, size_t width)
      : taps_(taps),
        quads_(quads),
        turned_(vectors(static_cast<size_t>(std::max(block_pixels, taps.count)) + 2 * step)),
        results_(vectors(width)) {}

  // Fills up to `lines` rows.
  TARGET void fill(const ConstRows& source, const MutableRows& target) {
    const auto count = static_cast<size_t>(taps_.quad_count(true));
    const auto end = static_cast<size_t>(target.width);
    for (size_t x = 0; x < end;) {
      const int begin = taps_.first[x] & ~3;
      size_t next = x + 1;
      while (next < end && taps_.first[next] + taps_.count - begin <= block_pixels)
        ++next;
      turn(source, target.rows, begin, taps_.first[next - 1] + taps_.count);
      Prefetch prefetch(source, target.rows, next < end ? taps_.first[next] : -1, next - x);
      for (; x < next; ++x) {
        prefetch.go_on();
        const auto quad = static_cast<size_t>((taps_.first[x] - begin) / 4);
        sum(bytes_of(turned_) + quad * channels * vector_bytes, quads_.data() + x * count, count,
            bytes_of(results_) + x * channels * lines);
      }
    }
    turn_back(end * channels, target);
  }

 private:
  // A quad has a channel of four pixels. Bytes of a row that are turned at a time.
  static constexpr size_t step = vector_bytes / (4 * channels) * (4 * channels);
  // Pixels of the source that are turned at a time: their quads stay in the first-level cache.
  static constexpr int block_pixels = 256;

  // Fetches the pixels of the next block, or of the next lines, in the steps of this one: the
  // hardware prefetcher cannot follow that many rows.
  class Prefetch {
   public:
    Prefetch(const ConstRows& source, const RowRange& rows, int next, size_t steps)
        : from_(next < 0 ? source.row(rows.begin) + lines * source.pitch
                         : source.row(rows.begin) + static_cast<size_t>(next) * channels),
          pitch_(static_cast<std::ptrdiff_t>(source.pitch)),
          vectors_a_step_((all + steps - 1) / steps) {}

    void go_on() {
      constexpr auto next_vectors = static_cast<std::ptrdiff_t>(vector_bytes);
      constexpr auto last_line = static_cast<std::ptrdiff_t>(lines - 1);
      for (size_t i = 0; i < vectors_a_step_ && left_ > 0; ++i) {
        __builtin_prefetch(from_);
        from_ += --left_ % lines == 0 ? next_vectors - last_line * pitch_ : pitch_;
      }
    }

   private:
    static constexpr size_t all = block_pixels * channels / vector_bytes * lines;

    const std::uint8_t* from_;
    std::ptrdiff_t pitch_;
    size_t vectors_a_step_;
    size_t left_ = all;
  };

  // Vectors for `pixels` pixels of each line, and what a vector has too much.
  static size_t vectors(size_t pixels) { return pixels * channels * lines / vector_bytes + lines; }
  static std::uint8_t* bytes_of(std::vector<Aligned>& memory) { return memory[0].bytes.data(); }

  // The order of `step` bytes that puts those of each quad together.
  TARGET static __m512i by_quads() {
    Aligned from{};
    for (size_t i = 0; i < step; ++i) {
      const size_t quad = i / (4 * channels);
      const size_t channel = i / 4 % channels;
      from.bytes[i] = static_cast<std::uint8_t>((quad * 4 + i % 4) * channels + channel);
    }
    return _mm512_load_si512(&from);
  }

  // The pixels begin ... end - 1, into turned_: quad by quad, channel by channel, a number for each
  // line. If there are fewer lines, the last one several times.
  TARGET void turn(const ConstRows& source, const RowRange& rows, int begin, int end) {
    const __m512i order = by_quads();
    std::uint8_t* to = bytes_of(turned_);
    std::array<const std::uint8_t*, lines> from;
    for (int n = 0; n < static_cast<int>(lines); ++n) {
      from[static_cast<size_t>(n)] = source.row(std::min(rows.begin + n, rows.end - 1)) +
                                     static_cast<size_t>(begin) * channels;
    }
    const size_t count = static_cast<size_t>(end - begin) * channels;
    for (size_t i = 0; i < count; i += step, to += step * lines) {
      const __mmask64 mask = first_bytes(std::min(count - i, step));
      std::array<Numbers, lines> square;
      for (size_t n = 0; n < lines; ++n) {
        square[n] = reinterpret_cast<Numbers>(_mm512_maskz_permutexvar_epi8(
            ~__mmask64{0}, order, _mm512_maskz_loadu_epi8(mask, from[n] + i)));
      }
      transpose(square);
      std::memcpy(to, square.data(), step * lines);
    }
  }

  // One pixel of each line, from `count` quads of all channels.
  [[gnu::always_inline]] TARGET static void sum(const std::uint8_t* from, const Quad* weights,
                                                size_t count, std::uint8_t* out) {
    Sums sums[4] = {no_sums(), no_sums(), no_sums(), no_sums()};
    for (size_t k = 0; k < count; ++k, from += channels * vector_bytes) {
      for (size_t c = 0; c < channels; ++c)
        add(sums[c], _mm512_load_si512(from + c * vector_bytes), weights[k]);
    }
    // What is too much is overwritten by the next pixel.
    _mm512_storeu_si512(
        out, _mm512_maskz_permutexvar_epi32(
                 0xFFFF, _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
                 packed(sums)));
  }

  // From results_, where pixel by pixel, channel by channel, there is a byte for each line.
  TARGET void turn_back(size_t count, const MutableRows& target) {
    Aligned from{};
    for (size_t i = 0; i < vector_bytes; ++i)
      from.bytes[i] = static_cast<std::uint8_t>(i % 4 * lines + i / 4);
    const __m512i order = _mm512_load_si512(&from);  // four samples of each line together
    for (size_t i = 0; i < count; i += vector_bytes) {
      const size_t left = std::min(count - i, vector_bytes);
      const std::uint8_t* results = bytes_of(results_) + i * lines;
      std::array<Numbers, lines> square;
      for (size_t n = 0; n < lines; ++n) {
        square[n] = reinterpret_cast<Numbers>(_mm512_maskz_permutexvar_epi8(
            ~__mmask64{0}, order, _mm512_load_si512(results + n * vector_bytes)));
      }
      transpose(square);
      for (int line = 0; line < target.rows.count(); ++line) {
        _mm512_mask_storeu_epi8(target.row(target.rows.begin + line) + i, first_bytes(left),
                                reinterpret_cast<__m512i>(square[static_cast<size_t>(line)]));
      }
    }
  }

  const ResizeTaps& taps_;
  const std::vector<Quad>& quads_;
  std::vector<Aligned> turned_;
  std::vector<Aligned> results_;
};

template <size_t channels>
void along_rows(const ConstRows& source, const MutableRows& target, const ResizeTaps& taps,
                const std::vector<Quad>& quads) {
  AlongRows<channels> loop(taps, quads, static_cast<size_t>(target.width));
  for (int y = target.rows.begin; y < target.rows.end; y += static_cast<int>(lines))
    loop.fill(source, target.part({y, std::min(y + static_cast<int>(lines), target.rows.end)}));
}

// 64 samples of a row of the result, or as many as `mask` says, from 4 * count rows.
TARGET void add_columns(const std::uint8_t* const* rows, size_t at, __mmask64 mask,
                        const Quad* weights, size_t count, std::uint8_t* out) {
  Sums sums[4] = {no_sums(), no_sums(), no_sums(), no_sums()};
  for (size_t k = 0; k < count; ++k, rows += 4) {
    const __m512i a = _mm512_maskz_loadu_epi8(mask, rows[0] + at);
    const __m512i b = _mm512_maskz_loadu_epi8(mask, rows[1] + at);
    const __m512i c = _mm512_maskz_loadu_epi8(mask, rows[2] + at);
    const __m512i d = _mm512_maskz_loadu_epi8(mask, rows[3] + at);
    const __m512i begin_ab = _mm512_unpacklo_epi8(a, b);
    const __m512i begin_cd = _mm512_unpacklo_epi8(c, d);
    const __m512i end_ab = _mm512_unpackhi_epi8(a, b);
    const __m512i end_cd = _mm512_unpackhi_epi8(c, d);
    add(sums[0], _mm512_unpacklo_epi16(begin_ab, begin_cd), weights[k]);
    add(sums[1], _mm512_unpackhi_epi16(begin_ab, begin_cd), weights[k]);
    add(sums[2], _mm512_unpacklo_epi16(end_ab, end_cd), weights[k]);
    add(sums[3], _mm512_unpackhi_epi16(end_ab, end_cd), weights[k]);
  }
  _mm512_mask_storeu_epi8(out + at, mask, packed(sums));
}

}  // namespace

bool takes_quads(const PixelFormat& format) {
  return format.depth == 8 && instruction_set() >= InstructionSet::avx512_vbmi;
}

void resize_quads_along_rows(const ConstRows& source, const MutableRows& target,
                             const ResizeTaps& taps, const std::vector<Quad>& quads) {
  switch (source.format.channels) {
    case 1:
      return along_rows<1>(source, target, taps, quads);
    case 2:
      return along_rows<2>(source, target, taps, quads);
    case 3:
      return along_rows<3>(source, target, taps, quads);
    default:
      return along_rows<4>(source, target, taps, quads);
  }
}

TARGET void resize_quads_along_columns(const ConstRows& source, const MutableRows& target,
                                       const ResizeTaps& taps, const std::vector<Quad>& quads) {
  const auto count = static_cast<size_t>(taps.quad_count(false));
  const auto samples =
      static_cast<size_t>(target.width) * static_cast<size_t>(target.format.channels);
  std::vector<const std::uint8_t*> rows(4 * count);
  for (int y = target.rows.begin; y < target.rows.end; ++y) {
    // Rows beyond the taps have the weight 0.
    const int first = taps.first[static_cast<size_t>(y)];
    for (int k = 0; k < static_cast<int>(rows.size()); ++k)
      rows[static_cast<size_t>(k)] = source.row(first + std::min(k, taps.count - 1));
    for (size_t i = 0; i < samples; i += vector_bytes) {
      add_columns(rows.data(), i, first_bytes(std::min(samples - i, vector_bytes)),
                  quads.data() + static_cast<size_t>(y) * count, count, target.row(y));
    }
  }
}

#undef TARGET

}  // namespace gpufilter
#endif

#include "stages/resize/resize_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "host/instruction_set.hpp"
#include "host/loops.hpp"
#include "stages/resize/resize_vectors.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace gpufilter {
namespace {

using std::size_t;

#ifdef __x86_64__
// The inner loops of --resize for 8-bit samples, by the instruction that multiplies pairs of 16-bit
// numbers and adds the products of each pair (pmaddwd). A weight of more bits is two numbers, 2^16
// * high + low: sums of each are exact, as all sums are modulo 2^32.
struct ResizeLoops {
  // Rows that are computed together along rows.
  static constexpr std::size_t lines = 16;

  // From `lines` bytes for each channel of each pixel to pairs of two pixels' bytes as 16-bit
  // numbers: for each channel those of the first line, of the second and so on, then the next two
  // pixels'. Reads a pixel more if their number is odd.
  void (*widen)(const std::uint8_t* columns, std::size_t channels, std::size_t pixels,
                std::int16_t* pairs);

  // For each channel and each line:
  //   out = (2^21 + sum over k of weights[k] * pairs[k]) >> 22, limited to 0..255
  // `pairs` as above, of 2 * count pixels. `out` has `lines` numbers for
  // each channel.
  void (*along_rows)(const std::int16_t* pairs, std::size_t channels, const ResizeTaps::Pair* taps,
                     std::size_t count, std::uint8_t* out);

  // Computes `samples` columns of bytes from 2 * count rows. Fills all, or none if these are less
  // than a vector, and returns how many.
  std::size_t (*along_columns)(const std::uint8_t* const* rows, std::size_t samples,
                               const ResizeTaps::Pair* taps, std::size_t count, std::uint8_t* out);
};

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

const ResizeLoops& resize_loops(InstructionSet set) {
  return set == InstructionSet::baseline ? baseline::loops : avx2::loops;
}
#endif

// Sums of samples times weights, and numbers between the directions: those of 8-bit samples fit 32
// bits, as the magnitudes of the weights add up to less than 2^23.
template <typename Sample>
using SampleSum = std::conditional_t<sizeof(Sample) == 1, std::int32_t, std::int64_t>;

template <typename Sample, int shift = ResizeTaps::weight_bits, typename Sum>
[[gnu::always_inline]] inline Sample rounded_sample(Sum sum) {
  constexpr Sum half = Sum{1} << (shift - 1);
  constexpr Sum max = std::numeric_limits<Sample>::max();
  const Sum rounded = (sum + half) >> shift;
  const Sum above = rounded > 0 ? rounded : 0;
  return static_cast<Sample>(above < max ? above : max);
}

template <typename Sample>
struct Job {
  ConstRows source;
  MutableRows target;
  const ResizeTaps* taps = nullptr;
  const std::vector<ResizeTaps::Pair>* pairs = nullptr;
};

template <typename Sample, size_t channels>
struct AlongRows {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Job<Sample>* job) {
    using Sum = SampleSum<Sample>;
    const auto count = static_cast<size_t>(job->taps->count);
    for (int y = job->target.rows.begin; y < job->target.rows.end; ++y) {
      const auto* in = reinterpret_cast<const Sample*>(job->source.row(y));
      auto* out = reinterpret_cast<Sample*>(job->target.row(y));
      for (size_t x = 0; x < static_cast<size_t>(job->target.width); ++x) {
        const Sample* from = in + static_cast<size_t>(job->taps->first[x]) * channels;
        const std::int32_t* weights = job->taps->weights.data() + x * count;
        std::array<Sum, channels> sums{};
        for (size_t k = 0; k < count; ++k) {
          for (size_t c = 0; c < channels; ++c)
            sums[c] += static_cast<Sum>(weights[k]) * from[k * channels + c];
        }
        for (size_t c = 0; c < channels; ++c)
          out[x * channels + c] = rounded_sample<Sample>(sums[c]);
      }
    }
  }
};

#ifdef __x86_64__
// 16 rows of bytes at a time, transposed: a pair of taps is two weights times neighbours in memory.
template <size_t channels>
struct BytesAlongRows {
  using TheJob = Job<std::uint8_t>;
  static constexpr size_t lines = ResizeLoops::lines;
  static constexpr size_t numbers = channels * lines;  // of a pixel of each row
  static constexpr int minimum_rows = 4;  // fewer take longer transposed than one by one
  // Pixels of the source that are transposed at a time: their pairs stay in the second-level cache.
  static constexpr int block_pixels = 512;

  struct Scratch {
    std::vector<std::uint8_t> columns;
    std::vector<std::int16_t> pairs;
    std::vector<std::uint8_t> results;
  };

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const TheJob* job) {
    const auto span = static_cast<size_t>(std::max(block_pixels, job->taps->count) + 2);
    Scratch scratch{std::vector<std::uint8_t>((span + 1) * numbers),
                    std::vector<std::int16_t>((span + 4) * numbers),
                    std::vector<std::uint8_t>(static_cast<size_t>(job->target.width) * numbers)};
    const RowRange rows = job->target.rows;
    for (int y = rows.begin; y < rows.end; y += static_cast<int>(lines)) {
      const RowRange part{y, std::min(y + static_cast<int>(lines), rows.end)};
      if (part.count() < minimum_rows) {
        const TheJob rest{job->source, job->target.part(part), job->taps, job->pairs};
        AlongRows<std::uint8_t, channels>::template run<set>(&rest);
        continue;
      }
      fill(*job, part, resize_loops(set), scratch);
    }
  }

  static void fill(const TheJob& job, const RowRange& part, const ResizeLoops& loops,
                   Scratch& scratch) {
    std::array<const std::uint8_t*, lines> in{};
    for (size_t line = 0; line < lines; ++line)
      in[line] = job.source.row(std::min(part.begin + static_cast<int>(line), part.end - 1));
    const ResizeTaps& taps = *job.taps;
    const auto count = static_cast<size_t>(taps.pair_count(true));
    const auto end = static_cast<size_t>(job.target.width);
    for (size_t x = 0; x < end;) {
      const int begin = taps.first[x] & ~1;
      size_t next = x + 1;
      while (next < end && taps.first[next] + taps.count - begin <= block_pixels)
        ++next;
      widen(in, begin, taps.first[next - 1] + taps.count, loops, scratch);
      for (; x < next; ++x) {
        const auto pair = static_cast<size_t>((taps.first[x] - begin) / 2);
        loops.along_rows(scratch.pairs.data() + pair * 2 * numbers, channels,
                         job.pairs->data() + x * count, count,
                         scratch.results.data() + x * numbers);
      }
    }
    turn_back(scratch.results.data(), end * channels, job.target.part(part));
  }

  // The pixels begin ... end - 1 of each row as pairs. A last one alone has any neighbour: its
  // weight is 0.
  static void widen(const std::array<const std::uint8_t*, lines>& rows, int begin, int end,
                    const ResizeLoops& loops, Scratch& scratch) {
    const auto pixels = static_cast<size_t>(end - begin);
    std::array<const std::uint8_t*, lines> from{};
    for (size_t line = 0; line < lines; ++line)
      from[line] = rows[line] + static_cast<size_t>(begin) * channels;
    turn(from, pixels * channels, scratch.columns.data());
    loops.widen(scratch.columns.data(), channels, pixels, scratch.pairs.data());
  }

  using Bytes [[gnu::vector_size(lines)]] = std::uint8_t;
  using Square = std::array<Bytes, lines>;

  // Byte i of vector n becomes byte n of vector i, by interleaving vectors four times.
  [[gnu::always_inline]] static void transpose(Square& from) {
    for (int round = 0; round < 4; ++round) {
      Square to;
      for (size_t n = 0; n < lines / 2; ++n) {
        to[2 * n] = __builtin_shufflevector(from[n], from[n + lines / 2], 0, 16, 1, 17, 2, 18, 3,
                                            19, 4, 20, 5, 21, 6, 22, 7, 23);
        to[2 * n + 1] = __builtin_shufflevector(from[n], from[n + lines / 2], 8, 24, 9, 25, 10, 26,
                                                11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
      }
      from = to;
    }
  }

  // columns[i * 16 + line] = rows[line][i].
  static void turn(const std::array<const std::uint8_t*, lines>& rows, size_t count,
                   std::uint8_t* columns) {
    size_t i = 0;
    for (; i + lines <= count; i += lines) {
      // The hardware prefetcher cannot follow 16 rows.
      constexpr size_t ahead = 512;
      for (size_t line = i / lines % 4; line < lines; line += 4)
        __builtin_prefetch(rows[line] + i + ahead);
      Square square;
      for (size_t line = 0; line < lines; ++line)
        std::memcpy(&square[line], rows[line] + i, lines);
      transpose(square);
      for (size_t n = 0; n < lines; ++n)
        std::memcpy(columns + (i + n) * lines, &square[n], lines);
    }
    for (; i < count; ++i) {
      for (size_t line = 0; line < lines; ++line)
        columns[i * lines + line] = rows[line][i];
    }
  }

  // Row `line`, byte i = columns[i * 16 + line].
  static void turn_back(const std::uint8_t* columns, size_t count, const MutableRows& target) {
    const auto rows = static_cast<size_t>(target.rows.count());
    size_t i = 0;
    for (; i + lines <= count; i += lines) {
      Square square;
      for (size_t n = 0; n < lines; ++n)
        std::memcpy(&square[n], columns + (i + n) * lines, lines);
      transpose(square);
      for (size_t line = 0; line < rows; ++line)
        std::memcpy(target.row(target.rows.begin + static_cast<int>(line)) + i, &square[line],
                    lines);
    }
    for (; i < count; ++i) {
      for (size_t line = 0; line < rows; ++line)
        target.row(target.rows.begin + static_cast<int>(line))[i] = columns[i * lines + line];
    }
  }
};
#endif

template <typename Sample, size_t channels>
struct WeightedAlongRows {
  static constexpr size_t numbers = 2 * channels;
  static constexpr size_t colors = channels - 1;
  static constexpr int shift = product_shift(8 * sizeof(Sample));

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Job<Sample>* job) {
    const auto count = static_cast<size_t>(job->taps->count);
    for (int y = job->target.rows.begin; y < job->target.rows.end; ++y) {
      const auto* in = reinterpret_cast<const Sample*>(job->source.row(y));
      auto* out = reinterpret_cast<SampleSum<Sample>*>(job->target.row(y));
      for (size_t x = 0; x < static_cast<size_t>(job->target.width); ++x, out += numbers) {
        fill(in + static_cast<size_t>(job->taps->first[x]) * channels,
             job->taps->weights.data() + x * count, count, out);
      }
    }
  }

  [[gnu::always_inline]] static void fill(const Sample* from, const std::int32_t* weights,
                                          size_t count, SampleSum<Sample>* out) {
    std::array<std::int64_t, channels> sums{};
    std::array<std::int64_t, channels> products{};
    bool opaque = true;
    for (size_t k = 0; k < count; ++k, from += channels) {
      const std::int64_t weight = weights[k];
      const std::int64_t alpha = from[colors];
      opaque = opaque && (weight == 0 || alpha == std::numeric_limits<Sample>::max());
      for (size_t c = 0; c < channels; ++c) {
        sums[c] += weight * from[c];
        products[c] += weight * alpha * (c < colors ? from[c] : 1);
      }
    }
    for (size_t c = 0; c < channels; ++c) {
      constexpr std::int64_t half = std::int64_t{1} << (shift - 1);
      out[c] = rounded_sample<Sample>(sums[c]);
      out[channels + c] = static_cast<SampleSum<Sample>>((products[c] + half) >> shift);
    }
    out[colors] = opaque ? 1 : 0;
  }
};

template <typename Sample>
struct AlongColumns {
  static constexpr size_t block = 64;  // sums that stay in registers

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Job<Sample>* job) {
    const size_t samples =
        static_cast<size_t>(job->target.width) * static_cast<size_t>(job->target.format.channels);
    std::vector<const std::uint8_t*> rows;
    for (int y = job->target.rows.begin; y < job->target.rows.end; ++y) {
      auto* out = reinterpret_cast<Sample*>(job->target.row(y));
      size_t i = 0;
#ifdef __x86_64__
      if constexpr (sizeof(Sample) == 1) i = fill_by_pairs<set>(*job, y, samples, rows, out);
#endif
      for (; i + block <= samples; i += block)
        fill<block>(*job, y, i, out + i);
      for (; i < samples; ++i)
        fill<1>(*job, y, i, out + i);
    }
  }

#ifdef __x86_64__
  // All samples, or none if they are too few; returns how many.
  template <InstructionSet set>
  static size_t fill_by_pairs(const Job<Sample>& job, int y, size_t samples,
                              std::vector<const std::uint8_t*>& rows, std::uint8_t* out) {
    const auto count = static_cast<size_t>(job.taps->pair_count(false));
    const int first = job.taps->first[static_cast<size_t>(y)];
    rows.resize(2 * count);
    for (int k = 0; k < static_cast<int>(rows.size()); ++k)
      rows[static_cast<size_t>(k)] = job.source.row(first + std::min(k, job.taps->count - 1));
    return resize_loops(set).along_columns(
        rows.data(), samples, job.pairs->data() + static_cast<size_t>(y) * count, count, out);
  }
#endif

  template <size_t width>
  [[gnu::always_inline]] static void fill(const Job<Sample>& job, int y, size_t i, Sample* out) {
    using Sum = SampleSum<Sample>;
    const int first = job.taps->first[static_cast<size_t>(y)];
    const std::int32_t* weights =
        job.taps->weights.data() + static_cast<size_t>(y) * static_cast<size_t>(job.taps->count);
    alignas(64) std::array<Sum, width> sums{};
    for (int k = 0; k < job.taps->count; ++k) {
      const Sum weight = weights[k];
      if (weight == 0) continue;
      const Sample* row = reinterpret_cast<const Sample*>(job.source.row(first + k)) + i;
      // Keeps GCC from joining the loops of two rows, which it then does not vectorise.
      asm volatile("" : "+r"(row));
      for (size_t n = 0; n < width; ++n)
        sums[n] += weight * static_cast<Sum>(row[n]);
    }
    for (size_t n = 0; n < width; ++n)
      out[n] = rounded_sample<Sample>(sums[n]);
  }
};

template <typename Sample, size_t channels>
struct WeightedAlongColumns {
  static constexpr size_t numbers = 2 * channels;
  static constexpr size_t colors = channels - 1;

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Job<Sample>* job) {
    for (int y = job->target.rows.begin; y < job->target.rows.end; ++y) {
      auto* out = reinterpret_cast<Sample*>(job->target.row(y));
      for (size_t x = 0; x < static_cast<size_t>(job->target.width); ++x, out += channels)
        fill(*job, y, x * numbers, out);
    }
  }

  [[gnu::always_inline]] static void fill(const Job<Sample>& job, int y, size_t i, Sample* out) {
    const int first = job.taps->first[static_cast<size_t>(y)];
    const std::int32_t* weights =
        job.taps->weights.data() + static_cast<size_t>(y) * static_cast<size_t>(job.taps->count);
    std::array<std::int64_t, numbers> sums{};
    bool opaque = true;
    for (int k = 0; k < job.taps->count; ++k) {
      const std::int64_t weight = weights[k];
      if (weight == 0) continue;
      const auto* from = reinterpret_cast<const SampleSum<Sample>*>(job.source.row(first + k)) + i;
      for (size_t n = 0; n < numbers; ++n)
        sums[n] += weight * from[n];
      opaque = opaque && from[colors] != 0;
    }
    for (size_t c = 0; c < colors; ++c)
      out[c] = rounded_sample<Sample>(sums[c]);
    const std::int64_t alpha = sums[numbers - 1];
    out[colors] = rounded_sample<Sample, alpha_shift(8 * sizeof(Sample))>(alpha);
    constexpr std::int64_t max = std::numeric_limits<Sample>::max();
    for (size_t c = 0; c < colors && !opaque && alpha > 0; ++c) {
      const std::int64_t color = std::max<std::int64_t>(sums[channels + c], 0);
      out[c] = static_cast<Sample>(std::min((color + alpha / 2) / alpha, max));
    }
  }
};

template <typename Sample, size_t channels>
void along_rows_of(const Job<Sample>& job, bool weighted) {
  if constexpr (channels % 2 == 0) {
    if (weighted) return run_loop<WeightedAlongRows<Sample, channels>>(&job);
  }
#ifdef __x86_64__
  if constexpr (sizeof(Sample) == 1) return run_loop<BytesAlongRows<channels>>(&job);
#endif
  run_loop<AlongRows<Sample, channels>>(&job);
}

template <typename Sample>
void along_rows(const Job<Sample>& job, bool weighted) {
  switch (job.source.format.channels) {
    case 1:
      return along_rows_of<Sample, 1>(job, weighted);
    case 2:
      return along_rows_of<Sample, 2>(job, weighted);
    case 3:
      return along_rows_of<Sample, 3>(job, weighted);
    default:
      return along_rows_of<Sample, 4>(job, weighted);
  }
}

template <typename Sample>
void along_columns(const Job<Sample>& job, bool weighted) {
  if (!weighted) return run_loop<AlongColumns<Sample>>(&job);
  job.target.format.channels == 2 ? run_loop<WeightedAlongColumns<Sample, 2>>(&job)
                                  : run_loop<WeightedAlongColumns<Sample, 4>>(&job);
}

}  // namespace

void resize_along_rows(const ConstRows& source, const MutableRows& target, const ResizeTaps& taps,
                       const ResizeTables& tables, bool weighted) {
#ifdef __x86_64__
  if (weighted && takes_weighted_vectors(source.format))
    return resize_weighted_along_rows(source, target, taps);
  if (!weighted && takes_quads(source.format))
    return resize_quads_along_rows(source, target, taps, tables.quads);
#endif
  source.format.depth == 8
      ? along_rows<std::uint8_t>({source, target, &taps, &tables.pairs}, weighted)
      : along_rows<std::uint16_t>({source, target, &taps, &tables.pairs}, weighted);
}

void resize_along_columns(const ConstRows& source, const MutableRows& target,
                          const ResizeTaps& taps, const ResizeTables& tables, bool weighted) {
#ifdef __x86_64__
  if (weighted && takes_weighted_vectors(target.format))
    return resize_weighted_along_columns(source, target, taps);
  if (!weighted && takes_quads(target.format))
    return resize_quads_along_columns(source, target, taps, tables.quads);
#endif
  target.format.depth == 8
      ? along_columns<std::uint8_t>({source, target, &taps, &tables.pairs}, weighted)
      : along_columns<std::uint16_t>({source, target, &taps, &tables.pairs}, weighted);
}

}  // namespace gpufilter

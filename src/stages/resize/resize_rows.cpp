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

namespace gpufilter {
namespace {

using std::size_t;

// Sums of samples times weights, and values between the directions: for 8-bit samples they fit 32
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
    for (int y = job->target.rows.begin; y < job->target.rows.end; ++y) {
      auto* out = reinterpret_cast<Sample*>(job->target.row(y));
      size_t i = 0;
      for (; i + block <= samples; i += block)
        fill<block>(*job, y, i, out + i);
      for (; i < samples; ++i)
        fill<1>(*job, y, i, out + i);
    }
  }

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
  if (weighted && takes_weighted_vectors(source.format))
    return resize_weighted_along_rows(source, target, taps);
  if (source.format.depth == 16)
    return along_rows<std::uint16_t>({source, target, &taps}, weighted);
  const int done = weighted ? 0 : resize_bytes_along_rows(source, target, taps, tables);
  const MutableRows rest = target.part({target.rows.begin + done, target.rows.end});
  if (rest.rows.count() > 0) along_rows<std::uint8_t>({source, rest, &taps}, weighted);
}

void resize_along_columns(const ConstRows& source, const MutableRows& target,
                          const ResizeTaps& taps, const ResizeTables& tables, bool weighted) {
  if (weighted && takes_weighted_vectors(target.format))
    return resize_weighted_along_columns(source, target, taps);
  if (target.format.depth == 16)
    return along_columns<std::uint16_t>({source, target, &taps}, weighted);
  if (!weighted && resize_bytes_along_columns(source, target, taps, tables)) return;
  along_columns<std::uint8_t>({source, target, &taps}, weighted);
}

}  // namespace gpufilter

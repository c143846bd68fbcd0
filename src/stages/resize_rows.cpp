#include "stages/resize_rows.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "host/loops.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Sums of samples times weights: those of 8-bit samples fit 32 bits, as the magnitudes of the
// weights add up to less than 2^23.
template <typename Sample>
using SampleSum = std::conditional_t<sizeof(Sample) == 1, std::int32_t, std::int64_t>;

// Numbers between the directions, if there are products with alpha.
template <typename Sample>
using Product = std::conditional_t<sizeof(Sample) == 1, std::int32_t, std::int64_t>;

template <typename Sample, typename Sum>
[[gnu::always_inline]] inline Sample rounded_sample(Sum sum) {
  constexpr Sum half = Sum{1} << (ResizeTaps::weight_bits - 1);
  constexpr Sum max = std::numeric_limits<Sample>::max();
  const Sum rounded = (sum + half) >> ResizeTaps::weight_bits;
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

// 16 rows of bytes at a time, transposed: then each tap is a weight times neighbours in memory.
template <size_t channels>
struct BytesAlongRows {
  using TheJob = Job<std::uint8_t>;
  static constexpr size_t lines = 16;
  static constexpr size_t numbers = channels * lines;  // of a pixel of each row
  // Fewer rows take longer transposed than one by one.
  static constexpr int minimum_rows = 4;

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const TheJob* job) {
    const size_t width = static_cast<size_t>(job->source.width);
    const size_t out_width = static_cast<size_t>(job->target.width);
    std::vector<std::uint8_t> columns((width * channels + lines) * lines);
    std::vector<std::uint8_t> results((out_width * channels + lines) * lines);
    const RowRange rows = job->target.rows;
    for (int y = rows.begin; y < rows.end; y += static_cast<int>(lines)) {
      const RowRange part{y, std::min(y + static_cast<int>(lines), rows.end)};
      if (part.count() < minimum_rows) {
        const TheJob rest{job->source, job->target.part(part), job->taps};
        AlongRows<std::uint8_t, channels>::template run<set>(&rest);
        continue;
      }
      std::array<const std::uint8_t*, lines> in{};
      for (size_t i = 0; i < lines; ++i)
        in[i] = job->source.row(std::min(y + static_cast<int>(i), part.end - 1));
      transpose(in, width * channels, columns.data());
      for (size_t x = 0; x < out_width; ++x)
        fill(*job->taps, x, columns.data(), results.data() + x * numbers);
      for (int line = part.begin; line < part.end; ++line) {
        std::uint8_t* out = job->target.row(line);
        for (size_t i = 0; i < out_width * channels; ++i)
          out[i] = results[i * lines + static_cast<size_t>(line - y)];
      }
    }
  }

  [[gnu::always_inline]] static void fill(const ResizeTaps& taps, size_t x,
                                          const std::uint8_t* columns, std::uint8_t* out) {
    const std::uint8_t* from = columns + static_cast<size_t>(taps.first[x]) * numbers;
    const std::int32_t* weights = taps.weights.data() + x * static_cast<size_t>(taps.count);
    alignas(64) std::array<std::int32_t, numbers> sums{};
    for (int k = 0; k < taps.count; ++k, from += numbers) {
      const std::int32_t weight = weights[k];
      // Keeps GCC from joining the loops of two taps, which it then does not vectorise.
      asm volatile("" : "+r"(from));
      for (size_t n = 0; n < numbers; ++n)
        sums[n] += weight * static_cast<std::int32_t>(from[n]);
    }
    for (size_t n = 0; n < numbers; ++n)
      out[n] = rounded_sample<std::uint8_t>(sums[n]);
  }

  // columns[i * 16 + line] = rows[line][i], by interleaving vectors four times.
  static void transpose(const std::array<const std::uint8_t*, lines>& rows, size_t count,
                        std::uint8_t* columns) {
    using Bytes [[gnu::vector_size(lines)]] = std::uint8_t;
    size_t i = 0;
    for (; i + lines <= count; i += lines) {
      std::array<Bytes, lines> from;
      std::array<Bytes, lines> to;
      for (size_t line = 0; line < lines; ++line)
        std::memcpy(&from[line], rows[line] + i, lines);
      for (int round = 0; round < 4; ++round) {
        for (size_t n = 0; n < lines / 2; ++n) {
          to[2 * n] = __builtin_shufflevector(from[n], from[n + lines / 2], 0, 16, 1, 17, 2, 18, 3,
                                              19, 4, 20, 5, 21, 6, 22, 7, 23);
          to[2 * n + 1] = __builtin_shufflevector(from[n], from[n + lines / 2], 8, 24, 9, 25, 10,
                                                  26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        }
        from = to;
      }
      std::memcpy(columns + i * lines, from.data(), sizeof from);
    }
    for (; i < count; ++i) {
      for (size_t line = 0; line < lines; ++line)
        columns[i * lines + line] = rows[line][i];
    }
  }
};

template <typename Sample, size_t channels>
struct WeightedAlongRows {
  static constexpr size_t numbers = 2 * channels + 1;
  static constexpr int shift = product_shift(8 * sizeof(Sample));

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Job<Sample>* job) {
    const auto count = static_cast<size_t>(job->taps->count);
    for (int y = job->target.rows.begin; y < job->target.rows.end; ++y) {
      const auto* in = reinterpret_cast<const Sample*>(job->source.row(y));
      auto* out = reinterpret_cast<Product<Sample>*>(job->target.row(y));
      for (size_t x = 0; x < static_cast<size_t>(job->target.width); ++x, out += numbers) {
        fill(in + static_cast<size_t>(job->taps->first[x]) * channels,
             job->taps->weights.data() + x * count, count, out);
      }
    }
  }

  [[gnu::always_inline]] static void fill(const Sample* from, const std::int32_t* weights,
                                          size_t count, Product<Sample>* out) {
    std::array<std::int64_t, channels> sums{};
    std::array<std::int64_t, channels> products{};
    bool opaque = true;
    for (size_t k = 0; k < count; ++k, from += channels) {
      const std::int64_t weight = weights[k];
      const std::int64_t alpha = from[channels - 1];
      opaque = opaque && (weight == 0 || alpha == std::numeric_limits<Sample>::max());
      for (size_t c = 0; c < channels; ++c) {
        sums[c] += weight * from[c];
        products[c] += weight * alpha * (c + 1 < channels ? from[c] : 1);
      }
    }
    for (size_t c = 0; c < channels; ++c) {
      constexpr std::int64_t half = std::int64_t{1} << (shift - 1);
      out[c] = rounded_sample<Sample>(sums[c]);
      out[channels + c] = static_cast<Product<Sample>>((products[c] + half) >> shift);
    }
    out[2 * channels] = opaque ? 1 : 0;
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
  static constexpr size_t numbers = 2 * channels + 1;

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
    std::array<std::int64_t, 2 * channels> sums{};
    bool opaque = true;
    for (int k = 0; k < job.taps->count; ++k) {
      const std::int64_t weight = weights[k];
      if (weight == 0) continue;
      const auto* from = reinterpret_cast<const Product<Sample>*>(job.source.row(first + k)) + i;
      for (size_t n = 0; n < 2 * channels; ++n)
        sums[n] += weight * from[n];
      opaque = opaque && from[2 * channels] != 0;
    }
    for (size_t c = 0; c < channels; ++c)
      out[c] = rounded_sample<Sample>(sums[c]);
    const std::int64_t alpha = sums[2 * channels - 1];
    if (opaque || alpha <= 0) return;
    for (size_t c = 0; c + 1 < channels; ++c) {
      constexpr std::int64_t max = std::numeric_limits<Sample>::max();
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
  if constexpr (sizeof(Sample) == 1) {
    run_loop<BytesAlongRows<channels>>(&job);
  } else {
    run_loop<AlongRows<Sample, channels>>(&job);
  }
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

PixelFormat resize_between(const PixelFormat& picture, bool weighted) {
  if (!weighted) return picture;
  return {2 * picture.channels + 1, 4 * picture.depth};
}

void resize_along_rows(const ConstRows& source, const MutableRows& target, const ResizeTaps& taps,
                       bool weighted) {
  source.format.depth == 8 ? along_rows<std::uint8_t>({source, target, &taps}, weighted)
                           : along_rows<std::uint16_t>({source, target, &taps}, weighted);
}

void resize_along_columns(const ConstRows& source, const MutableRows& target,
                          const ResizeTaps& taps, bool weighted) {
  target.format.depth == 8 ? along_columns<std::uint8_t>({source, target, &taps}, weighted)
                           : along_columns<std::uint16_t>({source, target, &taps}, weighted);
}

}  // namespace gpufilter

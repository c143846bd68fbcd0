#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "host/vectors.hpp"
#include "stages/resize/resize_rows.hpp"
#include "stages/resize/resize_vectors.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr size_t channels = 4;
constexpr size_t colors = channels - 1;
// Between the steps: colours, whether all taps are opaque, products with alpha.
constexpr size_t numbers = 2 * channels;
constexpr double unit = 1.0 / (1 << ResizeTaps::weight_bits);

// Sums are whole numbers up to 2^52, which are exact as doubles.
using Doubles = FourDoubles;
using Ints = FourInts;

[[gnu::always_inline]] inline Ints widened(std::uint32_t pixel) {
  const VectorOf<std::uint32_t, sizeof(Ints)>::type pixels{pixel};
  return widened_low<std::int32_t>(widened_low<std::uint16_t>(as<std::uint8_t>(pixels)));
}

// Rows that are computed together: their sums do not wait for each other.
constexpr size_t lines = 4;

struct WeightedRows {
  ConstRows source;
  MutableRows target;
  const ResizeTaps* taps;
};

// The sums of a pixel between the directions.
struct PixelSums {
  Doubles samples{};
  Doubles products{};  // with alpha, and of alpha

  [[gnu::always_inline]] void add(const Doubles& more, const Doubles& factors, double weight) {
    const Doubles weighted = more * weight;
    samples += weighted;
    products += weighted * factors;
  }

  template <InstructionSet set>
  [[gnu::always_inline]] void store_at(std::int32_t* out, bool opaque) const {
    constexpr int shift = product_shift(8);
    constexpr int offset = 1 << 30;  // so that numbers are positive, and truncated downwards
    const Ints sums = truncated<set>(samples * unit + 0.5);
    const Ints positive = sums < 0 ? Ints{} : sums;
    store(out, positive < 255 ? positive : Ints{} + 255);
    out[colors] = opaque ? 1 : 0;
    store(out + channels,
          truncated<set>(products * (1.0 / (1 << shift)) + (offset + 0.5)) - offset);
  }
};

struct WeightedPixelsAlongRows {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const WeightedRows* job) {
    const RowRange rows = job->target.rows;
    for (int y = rows.begin; y < rows.end; y += static_cast<int>(lines)) {
      std::array<const std::uint8_t*, lines> in{};
      std::array<std::int32_t*, lines> out{};
      for (size_t line = 0; line < lines; ++line) {  // repeated if there are fewer
        const int row = std::min(y + static_cast<int>(line), rows.end - 1);
        in[line] = job->source.row(row);
        out[line] = reinterpret_cast<std::int32_t*>(job->target.row(row));
      }
      fill<set>(in, out, static_cast<size_t>(job->target.width), *job->taps);
    }
  }

  template <InstructionSet set>
  [[gnu::always_inline]] static void fill(const std::array<const std::uint8_t*, lines>& in,
                                          const std::array<std::int32_t*, lines>& out, size_t width,
                                          const ResizeTaps& taps) {
    constexpr std::uint32_t opaque_pixel = 0xFF000000U;
    const auto count = static_cast<size_t>(taps.count);
    const std::int32_t* weights = taps.weights.data();
    for (size_t x = 0; x < width; ++x, weights += count) {
      const size_t first = static_cast<size_t>(taps.first[x]) * channels;
      PixelSums sums[lines];
      std::uint32_t opaque[lines] = {opaque_pixel, opaque_pixel, opaque_pixel, opaque_pixel};
      for (size_t k = 0; k < count; ++k) {
        const std::uint32_t ignored = weights[k] == 0 ? opaque_pixel : 0;
#pragma GCC unroll 4
        for (size_t line = 0; line < lines; ++line) {
          const std::uint8_t* pixel = in[line] + first + k * channels;
          const auto four = load<std::uint32_t>(pixel);
          opaque[line] &= four | ignored;
          const Doubles samples = to_doubles<set>(widened(four));
          sums[line].add(samples, __builtin_shufflevector(samples, Doubles{} + 1, 3, 3, 3, 4),
                         weights[k]);
        }
      }
#pragma GCC unroll 4
      for (size_t line = 0; line < lines; ++line)
        sums[line].template store_at<set>(out[line] + x * numbers, opaque[line] == opaque_pixel);
    }
  }
};

struct WeightedPixelsAlongColumns {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const WeightedRows* job) {
    const auto count = static_cast<size_t>(job->taps->count);
    std::vector<const std::int32_t*> rows(count);
    for (int y = job->target.rows.begin; y < job->target.rows.end; ++y) {
      const auto at = static_cast<size_t>(y);
      for (size_t k = 0; k < count; ++k) {
        rows[k] = reinterpret_cast<const std::int32_t*>(
            job->source.row(job->taps->first[at] + static_cast<int>(k)));
      }
      const std::int32_t* weights = job->taps->weights.data() + at * count;
      std::uint8_t* out = job->target.row(y);
      for (size_t x = 0; x < static_cast<size_t>(job->target.width); ++x, out += channels)
        fill<set>(rows, weights, x * numbers, out);
    }
  }

  template <InstructionSet set>
  [[gnu::always_inline]] static void fill(const std::vector<const std::int32_t*>& rows,
                                          const std::int32_t* weights, size_t at,
                                          std::uint8_t* out) {
    std::array<Doubles, 2> all{};
    std::int32_t opaque = 1;
    for (size_t k = 0; k < rows.size(); ++k) {
      const std::int32_t* from = rows[k] + at;
      const double weight = weights[k];
      all[0] += weight * to_doubles<set>(load<Ints>(from));
      all[1] += weight * to_doubles<set>(load<Ints>(from + channels));
      opaque &= from[colors] | static_cast<std::int32_t>(weights[k] == 0);
    }
    constexpr double alpha_unit = 1.0 / (std::int64_t{1} << alpha_shift(8));
    for (size_t c = 0; c < colors; ++c)
      out[c] = limited(static_cast<std::int64_t>(all[0][c] * unit + 0.5));
    out[colors] = limited(static_cast<std::int64_t>(all[1][colors] * alpha_unit + 0.5));
    const auto alpha = static_cast<std::int64_t>(all[1][colors]);
    for (size_t c = 0; c < colors && opaque == 0 && alpha > 0; ++c)
      out[c] = limited((static_cast<std::int64_t>(std::max(all[1][c], 0.0)) + alpha / 2) / alpha);
  }

  // Truncation makes 0 of numbers between -1 and 0, as the limit would if they were rounded down.
  [[gnu::always_inline]] static std::uint8_t limited(std::int64_t sample) {
    return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sample, 0, 255));
  }
};

}  // namespace

bool takes_weighted_vectors(const PixelFormat& format) {
  return format == PixelFormat{channels, 8} && instruction_set() >= InstructionSet::avx2;
}

void resize_weighted_along_rows(const ConstRows& source, const MutableRows& target,
                                const ResizeTaps& taps) {
  const WeightedRows job{source, target, &taps};
  run_loop<WeightedPixelsAlongRows>(&job);
}

void resize_weighted_along_columns(const ConstRows& source, const MutableRows& target,
                                   const ResizeTaps& taps) {
  const WeightedRows job{source, target, &taps};
  run_loop<WeightedPixelsAlongColumns>(&job);
}

}  // namespace gpufilter

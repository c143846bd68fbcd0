#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include "host/arithmetic.hpp"
#include "host/loops.hpp"
#include "stage/window_rows.hpp"
#include "stages/window/window_stages.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Columns whose window of many rows stays in the second-level cache.
constexpr size_t tile_samples = 1024;
constexpr size_t block = 32;  // sums that stay in registers

// A coefficient that is not 0.
template <typename Number>
struct Tap {
  int row = 0;        // from the middle one
  size_t sample = 0;  // from the first sample of the window's row
  Number weight = 0;
};

template <typename Number>
struct TapAt {
  const Number* at = nullptr;
  Number weight = 0;
};

// acc[i] = start + the sum of weight * at[i] over the taps, in order. In `exact` arithmetic no
// operation rounds; otherwise each is one fma.
template <InstructionSet set, bool exact, typename Number>
[[gnu::always_inline]] inline void add_taps(const TapAt<Number>* taps, size_t count, size_t samples,
                                            Number start, Number* sums) {
  for (size_t i = 0; i < samples; i += block) {
    alignas(64) std::array<Number, block> acc;
    acc.fill(start);
    for (size_t t = 0; t < count; ++t) {
      const Number* in = taps[t].at + i;
      const Number weight = taps[t].weight;
      // Keeps GCC from joining the loops of two taps, which it then does not vectorise.
      asm volatile("" : "+r"(in));
      for (size_t k = 0; k < block; ++k) {
        if constexpr (exact) {
          acc[k] += weight * in[k];
        } else {
          acc[k] = fused_multiply_add<set>(weight, in[k], acc[k]);
        }
      }
    }
    for (size_t k = 0; k < block; ++k)
      sums[i + k] = acc[k];
  }
}

std::int64_t divided_down(std::int64_t dividend, std::int64_t divisor) {
  return dividend >= 0 ? dividend / divisor : -((divisor - 1 - dividend) / divisor);
}

// The whole number nearest to dividend / divisor, half up, plus `offset`; saturated.
template <typename Sample>
Sample nearest(std::int64_t dividend, std::int64_t divisor, std::int64_t offset) {
  constexpr std::int64_t max = std::numeric_limits<Sample>::max();
  const std::int64_t rounded = divided_down(2 * dividend + divisor, 2 * divisor);
  return static_cast<Sample>(std::clamp<std::int64_t>(rounded + offset, 0, max));
}

// The nearest quotient of two floats, exactly: an estimate, corrected by the sign of an exact
// difference. The dividend may be infinite, the divisor is above 0.
template <typename Sample>
Sample nearest(float dividend, float divisor) {
  constexpr auto max = static_cast<float>(std::numeric_limits<Sample>::max());
  if (!(dividend > 0)) return 0;
  const float quotient = dividend / divisor;
  if (!(quotient < max + 1)) return std::numeric_limits<Sample>::max();
  auto number = static_cast<float>(static_cast<std::int32_t>(quotient));
  while (number < max && std::fma(-(number + 0.5F), divisor, dividend) >= 0)
    number += 1;
  while (number > 0 && std::fma(-(number - 0.5F), divisor, dividend) < 0)
    number -= 1;
  return static_cast<Sample>(number);
}

template <typename Sample, typename Number>
struct Job {
  ConstRows source;
  MutableRows target;
  int height = 0;
  const ConvolveParameters* parameters = nullptr;
  const ConvolutionNumbers* numbers = nullptr;
  std::vector<Tap<Number>> taps;
  std::vector<Number> sums;           // of a tile, plain; then weighted
  std::vector<TapAt<Number>> placed;  // the taps in a window's rows

  [[nodiscard]] bool weighted() const {
    return parameters->alpha == AlphaMode::weighted && source.format.has_alpha();
  }
  [[nodiscard]] int channels() const { return source.format.channels; }
};

template <typename Sample, typename Number, bool exact>
struct ConvolveLoop {
  using TheJob = Job<Sample, Number>;
  using Rows = WindowRows<Sample, Number>;
  static constexpr auto max = static_cast<Number>(std::numeric_limits<Sample>::max());
  // Single precision is too narrow for exact sums of products with alpha; see convolve().
  static constexpr bool can_weigh = !(exact && std::is_same_v<Number, float>);

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(TheJob* job) {
    const auto& matrix = job->parameters->matrix;
    Rows rows(job->source, {.height = job->height,
                            .border = job->parameters->border,
                            .radius = matrix.radius_x(),
                            .rows = matrix.height,
                            .columns = static_cast<int>(tile_samples) / job->channels(),
                            .weighted = job->weighted()});
    rows.for_rows(
        job->target,
        matrix.radius_y(), [&](int y, size_t samples, Sample* out) __attribute__((always_inline)) {
          fill<set>(*job, rows, y, samples, out);
        });
  }

  template <InstructionSet set>
  [[gnu::always_inline]] static void fill(TheJob& job, Rows& rows, int y, size_t samples,
                                          Sample* out) {
    const auto channels = static_cast<size_t>(job.channels());
    const ConvolutionNumbers& numbers = *job.numbers;
    place(job, rows, y, false);
    Number* plain = job.sums.data();
    add_taps<set, exact>(job.placed.data(), job.placed.size(), samples, start(numbers), plain);
    store(plain, samples, numbers, out);
    if (!can_weigh || !job.weighted()) return;
    const Number* centre =
        rows.row(y) + static_cast<size_t>(job.parameters->matrix.radius_x()) * channels;
    if (rows.is_opaque(y, job.parameters->matrix.radius_y())) {
      for (size_t i = channels - 1; i < samples; i += channels)
        out[i] = std::numeric_limits<Sample>::max();
      return;
    }
    Number* weighted = plain + tile_samples + block;
    place(job, rows, y, true);
    add_taps<set, exact>(job.placed.data(), job.placed.size(), samples, Number{0}, weighted);
    for (size_t i = 0; i < samples; i += channels) {
      const bool opaque = !exact && is_opaque(job, y, rows, i + channels - 1);
      weigh(job, opaque, weighted + i, centre[i + channels - 1], out + i);
    }
  }

  static Number start(const ConvolutionNumbers& numbers) {
    if constexpr (exact) {
      // Half of the divisor rounds; another half makes the truncated quotient certain, see store().
      return static_cast<Number>(numbers.offset * numbers.scale + numbers.scale / 2) + Number{0.5};
    } else {
      return numbers.decimal_offset;
    }
  }

  // Whole sums lie half a unit away from multiples of the scale, which is more than the errors of
  // the reciprocal and of the product (see suits_float()).
  [[gnu::always_inline]] static void store(const Number* sums, size_t samples,
                                           const ConvolutionNumbers& numbers, Sample* out) {
    if constexpr (exact) {
      const Number inverse = Number{1} / static_cast<Number>(numbers.scale);
      for (size_t i = 0; i < samples; ++i) {
        const Number quotient = sums[i] * inverse;
        const Number above = quotient > 0 ? quotient : 0;
        out[i] = static_cast<Sample>(static_cast<std::int32_t>(above < max ? above : max));
      }
    } else {
      for (size_t i = 0; i < samples; ++i)
        out[i] = static_cast<Sample>(to_sample<Sample>(sums[i]));
    }
  }

  [[gnu::always_inline]] static void place(TheJob& job, Rows& rows, int y, bool weighted) {
    for (size_t t = 0; t < job.taps.size(); ++t) {
      const int row = y + job.taps[t].row;
      job.placed[t] = {(weighted ? rows.weighted_row(row) : rows.row(row)) + job.taps[t].sample,
                       job.taps[t].weight};
    }
  }

  // Replaces the pixel `out`, which was computed plainly. `sums`: of colours times alpha, and of
  // alpha. `opaque`: every pixel with a coefficient is opaque.
  static void weigh(const TheJob& job, [[maybe_unused]] bool opaque, const Number* sums,
                    Number centre, Sample* out) {
    const ConvolutionNumbers& numbers = *job.numbers;
    const size_t last = static_cast<size_t>(job.channels()) - 1;
    if constexpr (exact) {
      const auto alpha = static_cast<std::int64_t>(sums[last]);
      constexpr std::int64_t full = std::numeric_limits<Sample>::max();
      if (!numbers.averages) {
        for (size_t c = 0; c < last; ++c)
          out[c] = nearest<Sample>(static_cast<std::int64_t>(sums[c]), numbers.scale * full,
                                   numbers.offset);
        out[last] = static_cast<Sample>(centre);
        return;
      }
      for (size_t c = 0; c < last && alpha > 0; ++c)
        out[c] = nearest<Sample>(static_cast<std::int64_t>(sums[c]) * numbers.gain,
                                 alpha * numbers.divisor, numbers.offset);
      out[last] = nearest<Sample>(alpha, numbers.sum, 0);
    } else {
      if (!numbers.averages) out[last] = static_cast<Sample>(centre);
      if (opaque) {
        if (numbers.averages) out[last] = std::numeric_limits<Sample>::max();
        return;
      }
      if (!numbers.averages) {
        for (size_t c = 0; c < last; ++c)
          out[c] = static_cast<Sample>(
              to_sample<Sample>(std::fma(sums[c], 1.0F / max, numbers.decimal_offset)));
        return;
      }
      const Number alpha = sums[last];
      for (size_t c = 0; c < last && alpha > 0; ++c)
        out[c] = nearest<Sample>(
            std::fma(numbers.decimal_offset, alpha, sums[c] * numbers.decimal_gain), alpha);
      out[last] = static_cast<Sample>(to_sample<Sample>(alpha * numbers.inverse_gain));
    }
  }

  // Whether every pixel with a coefficient is opaque; `alpha`: the sample of the pixel in question.
  static bool is_opaque(const TheJob& job, int y, const Rows& rows, size_t alpha) {
    return std::all_of(job.taps.begin(), job.taps.end(), [&](const Tap<Number>& tap) {
      return rows.row(y + tap.row)[tap.sample + alpha] == max;
    });
  }
};

template <typename Sample, typename Number, bool exact>
void convolve(const ConstRows& source, const MutableRows& target, int height,
              const ConvolveParameters& parameters, const ConvolutionNumbers& numbers) {
  const ConvolutionMatrix& matrix = parameters.matrix;
  Job<Sample, Number> job{source, target, height, &parameters, &numbers, {}, {}, {}};
  for (int i = 0; i < matrix.width * matrix.height; ++i) {
    const auto index = static_cast<size_t>(i);
    const auto weight = exact ? static_cast<Number>(numbers.whole.at(index))
                              : static_cast<Number>(numbers.decimal.at(index));
    if (weight == 0) continue;
    job.taps.push_back(
        {i / matrix.width - matrix.radius_y(),
         static_cast<size_t>(i % matrix.width) * static_cast<size_t>(source.format.channels),
         weight});
  }
  job.placed.resize(job.taps.size());
  job.sums.resize(2 * (tile_samples + block));
  run_loop<ConvolveLoop<Sample, Number, exact>>(&job);
}

// Whether single precision holds every sum, and half a unit beside it, exactly; and quotients
// within half of the distance of a sum to the next multiple of the scale.
bool suits_float(const ConvolutionNumbers& numbers, const PixelFormat& format) {
  return numbers.largest < (1 << 23) && numbers.scale <= (format.depth == 8 ? 1 << 13 : 1 << 5);
}

template <typename Sample>
void convolve(const ConstRows& source, const MutableRows& target, int height,
              const ConvolveParameters& parameters, const ConvolutionNumbers& numbers) {
  const bool weighted = parameters.alpha == AlphaMode::weighted && source.format.has_alpha();
  if (!numbers.exact) {
    convolve<Sample, float, false>(source, target, height, parameters, numbers);
  } else if (suits_float(numbers, source.format) && !weighted) {
    convolve<Sample, float, true>(source, target, height, parameters, numbers);
  } else {
    convolve<Sample, double, true>(source, target, height, parameters, numbers);
  }
}

}  // namespace

void convolve_rows(const ConstRows& source, const MutableRows& target, int height,
                   const ConvolveParameters& parameters, const ConvolutionNumbers& numbers) {
  if (source.format.depth == 8) {
    convolve<std::uint8_t>(source, target, height, parameters, numbers);
  } else {
    convolve<std::uint16_t>(source, target, height, parameters, numbers);
  }
}

}  // namespace gpufilter

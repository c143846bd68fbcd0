#include "stages/window/denoise_rows.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "host/loops.hpp"
#include "stage/window_rows.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Columns whose windows stay in the second-level cache.
constexpr int tile_columns = 1024;
constexpr size_t block = 32;  // pixels whose sums stay in registers

// Holds differences of colours, weights and their sums.
template <typename Sample>
using Lane = std::conditional_t<sizeof(Sample) == 1, std::uint16_t, std::uint32_t>;

// Holds rounded sums of colours times weights exactly, and their quotients precisely enough: a
// quotient is a whole number, or further below one than the type's precision.
template <typename Sample>
using Quotient = std::conditional_t<sizeof(Sample) == 1, float, double>;

// The planes of a pixel that are compared and averaged: its colours.
template <typename Sample, size_t colors>
struct Colors {
  static constexpr size_t count = colors;
  static constexpr size_t first_mean = 0;  // earlier planes are only compared
  using Product = Lane<Sample>;            // of a plane's number and a weight
  using Result = Sample;

  [[gnu::always_inline]] static Lane<Sample> split(const Sample* pixel, size_t plane) {
    return pixel[plane];
  }
  template <typename Results, typename Pixels>
  [[gnu::always_inline]] static void join(const Results& means, const Pixels& /*centre*/, size_t i,
                                          Sample* out) {
    for (size_t c = 0; c < colors; ++c)
      out[c] = means[c][i];
  }
};

// The layout of the numbers that chroma_numbers() makes.
template <typename Sample>
struct Chroma {
  static constexpr size_t count = 3;
  static constexpr size_t first_mean = 1;
  static constexpr std::int32_t max = std::numeric_limits<Sample>::max();
  using Product = std::uint32_t;
  using Result = std::int32_t;

  [[gnu::always_inline]] static Lane<Sample> split(const Sample* pixel, size_t plane) {
    const std::int32_t red = pixel[0];
    const std::int32_t green = pixel[1];
    const std::int32_t blue = pixel[2];
    if (plane == 0) return static_cast<Lane<Sample>>((red + 2 * green + blue) / 4 * 2);
    return static_cast<Lane<Sample>>((plane == 1 ? red : blue) - green + max);
  }
  template <typename Results, typename Pixels>
  [[gnu::always_inline]] static void join(const Results& means, const Pixels& centre, size_t i,
                                          Sample* out) {
    const std::int32_t u = means[1][i] - max;
    const std::int32_t v = means[2][i] - max;
    const std::int32_t green = static_cast<std::int32_t>(centre[0][i]) / 2 - ((u + v) >> 2);
    out[0] = static_cast<Sample>(std::clamp(u + green, 0, max));
    out[1] = static_cast<Sample>(std::clamp(green, 0, max));
    out[2] = static_cast<Sample>(std::clamp(v + green, 0, max));
  }
};

// The rows of a window, with separate planes and alpha.
template <typename Sample, typename Planes>
class PlanarWindow {
 public:
  PlanarWindow(int radius, size_t columns, size_t channels)
      : rows_(static_cast<size_t>(2 * radius + 1)),
        channels_(channels),
        pitch_(columns + static_cast<size_t>(2 * radius) + block),
        numbers_(rows_ * channels * pitch_) {}

  // Stores row `y`, any integer, in place of row y - 2 radius - 1.
  [[gnu::always_inline]] void add(int y, const Sample* in, size_t pixels) {
    for (size_t c = 0; c < channels_; ++c) {
      Lane<Sample>* out = plane(y, c);
      for (size_t i = 0; i < pixels; ++i) {
        const Sample* pixel = in + i * channels_;
        out[i] = c < Planes::count ? Planes::split(pixel, c) : pixel[c];
      }
    }
  }
  [[nodiscard]] const Lane<Sample>* row(int y, size_t channel) const {
    return numbers_.data() + offset(y, channel);
  }

 private:
  [[nodiscard]] size_t slot_of(int y) const { return slot_of_row(y, rows_); }
  [[nodiscard]] Lane<Sample>* plane(int y, size_t channel) {
    return numbers_.data() + offset(y, channel);
  }
  [[nodiscard]] size_t offset(int y, size_t channel) const {
    return (slot_of(y) * channels_ + channel) * pitch_;
  }

  size_t rows_;
  size_t channels_;
  size_t pitch_;
  std::vector<Lane<Sample>> numbers_;
};

template <typename Sample>
struct Job {
  ConstRows source;
  MutableRows target;
  int height = 0;
  const DenoiseParameters* parameters = nullptr;
  const DenoiseNumbers* numbers = nullptr;
};

// `weighted`: colours are weighted by alpha.
template <typename Sample, typename Planes, bool weighted>
struct DenoiseLoop {
  static constexpr size_t planes = Planes::count;
  using Number = Lane<Sample>;
  using Window = PlanarWindow<Sample, Planes>;
  using Pixels = std::array<const Number*, planes + 1>;  // and alpha, from a pixel on
  struct Sums {
    alignas(64) std::array<Number, block> weights{};
    alignas(64) std::array<std::array<std::uint32_t, block>, planes> products{};
  };

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Job<Sample>* job) {
    const int radius = job->numbers->reach;
    const auto channels = static_cast<size_t>(job->source.format.channels);
    const int columns = std::min(tile_columns, job->source.width);
    WindowRows<Sample> source(job->source, {.height = job->height,
                                            .border = job->parameters->border,
                                            .radius = radius,
                                            .rows = 2 * radius + 1,
                                            .columns = columns,
                                            .weighted = weighted});
    Window window(radius, static_cast<size_t>(columns), channels);
    std::vector<Pixels> neighbours(job->numbers->taps.size());  // in the middle row's first window
    const RowRange rows = job->target.rows;
    source.for_tiles(
        rows.begin - radius, [&](const Columns& tile) __attribute__((always_inline)) {
          const auto count = static_cast<size_t>(tile.count());
          for (int y = rows.begin - radius; y < rows.end + radius; ++y) {
            source.reach(y);
            window.add(y, source.row(y), count + 2 * static_cast<size_t>(radius));
            const int middle = y - radius;
            if (middle < rows.begin) continue;
            const DenoiseTap here{0, 0, 0};
            const Pixels centre = pixels_at(window, middle, radius, here, channels);
            for (size_t t = 0; t < neighbours.size(); ++t)
              neighbours[t] = pixels_at(window, middle, radius, job->numbers->taps[t], channels);
            Sample* out = source.target_at(job->target, middle);
            if (weighted && !source.is_opaque(middle, radius)) {
              fill_row<weighted>(*job->numbers, neighbours, centre, count, channels, out);
            } else {
              fill_row<false>(*job->numbers, neighbours, centre, count, channels, out);
            }
          }
        });
  }

  static Pixels pixels_at(const Window& window, int y, int radius, const DenoiseTap& tap,
                          size_t channels) {
    Pixels pixels{};
    for (size_t c = 0; c < pixels.size(); ++c)
      pixels[c] = window.row(y + tap.y, std::min(c, channels - 1)) + radius + tap.x;
    return pixels;
  }
  [[gnu::always_inline]] static Pixels moved(const Pixels& pixels, size_t by) {
    Pixels all{};
    for (size_t c = 0; c < all.size(); ++c) {
      all[c] = pixels[c] + by;
      // Keeps GCC from joining the loops of two neighbours, which it then does not vectorise.
      asm volatile("" : "+r"(all[c]));
    }
    return all;
  }

  template <bool by_alpha>
  [[gnu::always_inline]] static void fill_row(const DenoiseNumbers& numbers,
                                              const std::vector<Pixels>& neighbours,
                                              const Pixels& centre, size_t pixels, size_t channels,
                                              Sample* out) {
    for (size_t i = 0; i < pixels; i += block) {
      const Pixels here = moved(centre, i);
      Sums sums;
      for (size_t t = 0; t < neighbours.size(); ++t) {
        add_tap<by_alpha>(numbers, static_cast<Number>(numbers.taps[t].weight), here,
                          moved(neighbours[t], i), sums);
      }
      store(sums, here, std::min(block, pixels - i), channels, out + i * channels);
    }
  }

  template <bool by_alpha>
  [[gnu::always_inline]] static void add_tap(const DenoiseNumbers& numbers, Number tap_weight,
                                             const Pixels& centre, const Pixels& at, Sums& sums) {
    const auto limit = static_cast<Number>(numbers.limit);
    const auto inverse = static_cast<Number>(numbers.inverse);
    constexpr int depth = std::numeric_limits<Sample>::digits;
#pragma GCC ivdep
    for (size_t i = 0; i < block; ++i) {
      Number difference = 0;
      for (size_t c = 0; c < planes; ++c) {
        const Number a = at[c][i];
        const Number b = centre[c][i];
        difference = static_cast<Number>(difference + (a > b ? a - b : b - a));
      }
      const Number limited = difference < limit ? difference : limit;
      const auto u = static_cast<Number>(static_cast<Number>(limited * inverse) >> depth);
      const auto q = static_cast<Number>(static_cast<Number>(65025U - u * u) >> 8);
      const auto range = static_cast<Number>(static_cast<Number>(q * q) >> 8);
      auto weight = static_cast<Number>(static_cast<Number>(tap_weight * range) >> 8);
      if constexpr (by_alpha) weight = times_alpha(weight, at[planes][i]);
      sums.weights[i] = static_cast<Number>(sums.weights[i] + weight);
      for (size_t c = Planes::first_mean; c < planes; ++c) {
        using Product = typename Planes::Product;
        sums.products[c][i] += static_cast<Product>(Product{weight} * at[c][i]);
      }
    }
  }

  // weight * alpha / max, rounded to the nearest number.
  [[gnu::always_inline]] static Number times_alpha(Number weight, Number alpha) {
    constexpr std::uint32_t max = std::numeric_limits<Sample>::max();
    return static_cast<Number>((std::uint32_t{weight} * alpha + max / 2) / max);
  }

  [[gnu::always_inline]] static void store(const Sums& sums, const Pixels& centre, size_t pixels,
                                           size_t channels, Sample* out) {
    using Real = Quotient<Sample>;
    using Sum = std::conditional_t<sizeof(Sample) == 1, std::int32_t, std::uint32_t>;
    using Result = typename Planes::Result;
    alignas(64) std::array<std::array<Result, block>, planes> results;
    for (size_t c = Planes::first_mean; c < planes; ++c) {
#pragma GCC ivdep
      for (size_t i = 0; i < block; ++i) {
        const Sum weight = sums.weights[i];
        const auto dividend = static_cast<Sum>(sums.products[c][i]) + weight / 2;
        const Real quotient = static_cast<Real>(dividend) / static_cast<Real>(weight);
        // Without weights, which takes alpha 0 everywhere, colours stay.
        const auto color = static_cast<std::int32_t>(centre[c][i]);
        results[c][i] =
            static_cast<Result>(weight > 0 ? static_cast<std::int32_t>(quotient) : color);
      }
    }
    for (size_t i = 0; i < pixels; ++i) {
      Planes::join(results, centre, i, out + i * channels);
      if (channels > planes) out[i * channels + planes] = static_cast<Sample>(centre[planes][i]);
    }
  }
};

template <typename Planes, typename Sample>
void fill(const Job<Sample>& job) {
  if (job.source.format.has_alpha() && job.parameters->alpha == AlphaMode::weighted) {
    run_loop<DenoiseLoop<Sample, Planes, true>>(&job);
  } else {
    run_loop<DenoiseLoop<Sample, Planes, false>>(&job);
  }
}

}  // namespace

void denoise_rows(const ConstRows& source, const MutableRows& target, int height,
                  const DenoiseParameters& parameters, const DenoiseNumbers& numbers) {
  if (source.format.depth == 8) return denoise_pairs(source, target, height, parameters, numbers);
  const Job<std::uint16_t> job{source, target, height, &parameters, &numbers};
  source.format.channels < 3 ? fill<Colors<std::uint16_t, 1>>(job)
                             : fill<Colors<std::uint16_t, 3>>(job);
}

void denoise_chroma_rows(const ConstRows& source, const MutableRows& target, int height,
                         const DenoiseParameters& parameters, const DenoiseNumbers& numbers) {
  if (source.format.depth == 8) {
    fill<Chroma<std::uint8_t>>(Job<std::uint8_t>{source, target, height, &parameters, &numbers});
  } else {
    fill<Chroma<std::uint16_t>>(Job<std::uint16_t>{source, target, height, &parameters, &numbers});
  }
}

}  // namespace gpufilter

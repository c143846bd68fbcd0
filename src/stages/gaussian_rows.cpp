#include "stages/gaussian_rows.hpp"

#include <algorithm>

#include "stages/gaussian_pairs.hpp"
#include "stages/gaussian_quads.hpp"
#include "stages/gaussian_sums.hpp"
#include "stages/window_tile.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// by_quads: for windows that gaussian_quads.hpp has a loop for, from the samples as they are.
template <typename Sample, bool weighted, bool by_quads>
struct AlongRowsBy {
  using T = GaussianTypes<Sample, weighted>;
  using Number = std::conditional_t<by_quads, Sample, typename T::Row>;
  using Sum = typename T::RowSum;
  using Between = typename T::Between;
  using Neighbours = RowNeighbours<Number>;

  struct Job {
    ConstRows source;
    MutableRows target;
    const GaussianWindow* window = nullptr;
    std::vector<Sum> weights = {};
    std::vector<Sum> weights_of_alpha = {};
    std::vector<std::uint32_t> pairs = {};
#ifdef __x86_64__
    std::vector<WeightQuad> quads = {};
#endif
    std::vector<Sum> sums = {};
  };

  static void prepare([[maybe_unused]] Job& job) {
#ifdef __x86_64__
    const std::vector<std::int32_t>& weights = job.window->weights;
    if (by_quads) job.quads = quads_of(weights);
    for (size_t d = 0; d < weights.size(); d += 2)
      job.pairs.push_back(pair_of(weights[d], d + 1 < weights.size() ? weights[d + 1] : 0));
#endif
  }

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(Job* job) {
    const int channels = job->source.format.channels;
    const int radius = job->window->radius();
    const int columns = std::max(row_tile_numbers / channels, radius);
    job->sums.resize(has_pairs<Sample, weighted>(*job->window)
                         ? block
                         : static_cast<size_t>(columns * channels));
    WindowTile<Sample, Number> tile(job->source, job->target.rows.end, job->window->border, radius,
                                    0, columns, weighted);
    for (int x = 0; x < job->source.width; x += columns) {
      const int count = std::min(columns, job->source.width - x);
      tile.begin(x, count, job->target.rows.begin);
      for (int y = job->target.rows.begin; y < job->target.rows.end; ++y) {
        tile.advance();
        auto* out = reinterpret_cast<Between*>(job->target.row(y));
        const auto first = static_cast<size_t>(x * channels);
        const auto all = static_cast<size_t>(job->source.width * channels);
        const auto samples = static_cast<size_t>(count * channels);
        fill<set>(*job, tile, samples, out + first, out + all + first);
        if (!job->window->mask) continue;
        const Number* original = tile.row(0).plain + radius * channels;
        std::copy(original, original + samples, out + (weighted ? 2 : 1) * all + first);
      }
    }
  }

  // `products` only if they are weighted.
  template <InstructionSet set>
  [[gnu::always_inline]] static void fill(Job& job, const WindowTile<Sample, Number>& tile,
                                          size_t count, Between* out,
                                          [[maybe_unused]] Between* products) {
    const std::ptrdiff_t step = job.source.format.channels;
    const std::ptrdiff_t middle = job.window->radius() * step;
    const Number* plain = tile.row(0).plain + middle;
    constexpr int shift = row_shift<Sample>;
    const size_t done = fill_fast<set>(job, plain, step, count, out);
    sum_all(Neighbours{plain + done, step}, count - done, job.weights, half_of<shift, Sum>,
            job.sums.data());
    for (size_t i = done; i < count; ++i)
      out[i] = static_cast<Between>(shifted<shift>(job.sums[i - done]));
    if constexpr (weighted) {
      sum_all(Neighbours{tile.row(0).weighted + middle, step}, count, job.weights_of_alpha, Sum{0},
              job.sums.data());
      for (size_t i = 0; i < count; ++i)
        products[i] = static_cast<Between>(job.sums[i]);
    }
  }

  // All numbers, or none if a faster loop does not suit; returns how many.
  template <InstructionSet set>
  static size_t fill_fast([[maybe_unused]] const Job& job, [[maybe_unused]] const Number* in,
                          [[maybe_unused]] std::ptrdiff_t step, [[maybe_unused]] size_t count,
                          [[maybe_unused]] Between* out) {
#ifdef __x86_64__
    if constexpr (by_quads) {
      return quads_along_row(in - job.window->radius() * step, count, static_cast<size_t>(step),
                             job.quads, out);
    } else if constexpr (sizeof(Sample) == 1 && !weighted) {
      if (!has_pairs<Sample, weighted>(*job.window)) return 0;
      return pair_loops(set).along_row(in, count, step, job.pairs.data(), job.window->radius(),
                                       out);
    }
#endif
    return 0;
  }
};

template <typename Sample, bool weighted>
using AlongRows = AlongRowsBy<Sample, weighted, false>;

}  // namespace

PixelFormat gaussian_between(const PixelFormat& picture, const GaussianWindow& window) {
  const int parts = 1 + (window.weighted ? 1 : 0) + (window.mask ? 1 : 0);
  return {parts * picture.channels, (window.weighted ? 4 : 2) * picture.depth};
}

void gaussian_along_rows(const ConstRows& source, const MutableRows& target,
                         const GaussianWindow& window) {
#ifdef __x86_64__
  if (source.format.depth == 8 && !window.weighted && takes_gaussian_quads(window.weights)) {
    return run_with_weights<AlongRowsBy<std::uint8_t, false, true>>({source, target, &window});
  }
#endif
  run_gaussian<AlongRows>(source.format.depth, window.weighted, source, target, &window);
}

}  // namespace gpufilter

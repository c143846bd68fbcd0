#include "stages/gaussian/gaussian_rows.hpp"

#include <algorithm>
#include <array>

#include "host/vectors.hpp"
#include "stage/window_rows.hpp"
#include "stages/gaussian/gaussian_pairs.hpp"
#include "stages/gaussian/gaussian_quads.hpp"
#include "stages/gaussian/gaussian_sums.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// 8-bit samples are summed as they are.
template <typename Sample, bool weighted>
struct AlongRows {
  using T = GaussianTypes<Sample, weighted>;
  // Samples are multiplied by alpha here, if not all are opaque.
  static constexpr bool marks = marks_opaque<Sample, weighted>;
  using Number = std::conditional_t<sizeof(Sample) == 1, Sample, typename T::Row>;
  using Sum = typename T::RowSum;
  using Between = typename T::Between;
  using Plain = typename T::Plain;
  using Neighbours = RowNeighbours<Number>;

  struct Job {
    ConstRows source;
    MutableRows target;
    const GaussianWindow* window = nullptr;
    std::vector<Sum> weights = {};
    std::vector<std::uint32_t> pairs = {};
    std::vector<WeightQuad> quads = {};
    std::vector<Sum> sums = {};
    std::vector<std::int16_t> wide = {};         // of gaussian_pairs_along_row()
    std::vector<typename T::Row> products = {};  // of the samples and alpha
  };

  static void prepare(Job& job) {
    const std::vector<std::int32_t>& weights = job.window->weights;
    // Without weights by alpha, gaussian_tile_rows() takes these.
    if (marks && takes_gaussian_quads(weights)) job.quads = quads_of(weights);
    for (size_t d = 0; d < weights.size(); d += 2)
      job.pairs.push_back(pair_of(weights[d], d + 1 < weights.size() ? weights[d + 1] : 0));
  }

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(Job* job) {
    const int channels = job->source.format.channels;
    const int radius = job->window->radius();
    const int columns = tile_columns(job->source.format, *job->window);
    job->sums.resize(!weighted && has_pairs<Sample>(*job->window)
                         ? block
                         : static_cast<size_t>(columns * channels));
    Rows rows(job->source, {.height = job->target.rows.end,
                            .border = job->window->border,
                            .radius = radius,
                            .columns = columns,
                            .weighted = weighted});
    // The tiles are those along columns.
    for (int x = 0; x < job->source.width; x += columns)
      fill_tile<set>(*job, rows, {x, std::min(x + columns, job->source.width)});
  }

 private:
  using Rows = WindowRows<Sample, Number>;

  template <InstructionSet set>
  [[gnu::always_inline]] static void fill_tile(Job& job, Rows& rows, const Columns& tile) {
    const int channels = job.source.format.channels;
    rows.begin(tile, job.target.rows.begin);
    for (int y = job.target.rows.begin; y < job.target.rows.end; ++y) {
      rows.reach(y);
      auto* plain = reinterpret_cast<Plain*>(job.target.row(y));
      auto* out = reinterpret_cast<Between*>(job.target.row(y));
      const auto first = static_cast<size_t>(tile.begin * channels);
      const auto all = static_cast<size_t>(job.source.width * channels);
      const auto samples = static_cast<size_t>(tile.count() * channels);
      fill<set>(job, rows, y, samples, plain + first, out + all + first);
      if (!job.window->mask) continue;
      const Number* original = rows.row(y) + job.window->radius() * channels;
      std::copy(original, original + samples, out + (weighted ? 2 : 1) * all + first);
    }
  }

  // `products` only if they are weighted.
  template <InstructionSet set>
  [[gnu::always_inline]] static void fill(Job& job, Rows& rows, int y, size_t count, Plain* out,
                                          [[maybe_unused]] Between* products) {
    const std::ptrdiff_t step = job.source.format.channels;
    const std::ptrdiff_t middle = job.window->radius() * step;
    const Number* plain = rows.row(y) + middle;
    constexpr int shift = row_shift<Sample>;
    std::int16_t* rest = nullptr;
    if constexpr (marks) rest = rows.is_opaque(y) ? rest_of_sums(products) : nullptr;
    const size_t done = fill_fast(job, plain, step, count, out, rest);
    sum_all(Neighbours{plain + done, step}, count - done, job.weights, half_of<shift, Sum>,
            job.sums.data());
    for (size_t i = done; i < count; ++i)
      out[i] = static_cast<Plain>(shifted<shift>(job.sums[i - done]));
    if constexpr (marks) {
      if (rest != nullptr) {
        for (size_t i = done; i < count; ++i)
          rest[i] = static_cast<std::int16_t>(job.sums[i - done] & 0xff);
        products[0] = opaque_tile;
        return;
      }
      const size_t all = count + 2 * static_cast<size_t>(middle);
      job.products.resize(all);
      step == 2 ? multiply<set, 2>(rows.row(y), all, job.products.data())
                : multiply<set, 4>(rows.row(y), all, job.products.data());
      sum_all(RowNeighbours<Between>{job.products.data() + middle, step}, count, job.weights,
              Sum{0}, products);
    } else if constexpr (weighted) {
      sum_all(Neighbours{rows.weighted_row(y) + middle, step}, count, job.weights, Sum{0},
              job.sums.data());
      for (size_t i = 0; i < count; ++i)
        products[i] = (job.sums[i] + half_of<product_row_shift, Sum>) >> product_row_shift;
      for (size_t i = static_cast<size_t>(step) - 1; i < count; i += static_cast<size_t>(step))
        products[i] = (job.sums[i] + half_of<alpha_row_shift, Sum>) >> alpha_row_shift;
    }
  }

  // Each colour times its alpha, and alpha itself.
  template <InstructionSet set, size_t channels>
  [[gnu::always_inline]] static void multiply(const Sample* in, size_t count,
                                              typename T::Row* out) {
    using Ints = Vector<std::int32_t, set>;
    constexpr size_t numbers = count_of<Ints>;
    constexpr size_t number_bytes = sizeof(std::int32_t);
    // A colour's alpha, and none for alpha itself, which is multiplied by 1.
    constexpr LanePlaces alphas = [] {
      LanePlaces places{};
      for (size_t i = 0; i < places.size(); ++i) {
        const size_t number = i / number_bytes;
        const size_t alpha = number / channels * channels + channels - 1;
        const auto place = static_cast<std::uint8_t>(alpha * number_bytes + i % number_bytes);
        places[i] = number == alpha ? no_byte : place;
      }
      return places;
    }();
    alignas(Ints) static constexpr std::array<std::int32_t, numbers> ones = [] {
      std::array<std::int32_t, numbers> numbers_of_alpha{};
      for (size_t i = channels - 1; i < numbers; i += channels)
        numbers_of_alpha[i] = 1;
      return numbers_of_alpha;
    }();
    const auto one = load<Ints>(ones.data());
    size_t i = 0;
    for (; i + numbers <= count; i += numbers) {
      const auto samples = load_bytes<Ints>(in + i);
      store(out + i, static_cast<Ints>(samples * (shuffled<alphas>(samples) | one)));
    }
    for (; i < count; i += channels) {
      const typename T::Row alpha = in[i + channels - 1];
      for (size_t c = 0; c + 1 < channels; ++c)
        out[i + c] = in[i + c] * alpha;
      out[i + channels - 1] = alpha;
    }
  }

  // All numbers, or none if a faster loop does not suit; returns how many.
  [[gnu::always_inline]] static size_t fill_fast([[maybe_unused]] Job& job,
                                                 [[maybe_unused]] const Number* in,
                                                 [[maybe_unused]] std::ptrdiff_t step,
                                                 [[maybe_unused]] size_t count,
                                                 [[maybe_unused]] Plain* out,
                                                 [[maybe_unused]] std::int16_t* rest) {
    if constexpr (sizeof(Sample) == 1) {
      const int radius = job.window->radius();
      if (!job.quads.empty()) {
        return quads_along_row(in - radius * step, count, static_cast<size_t>(step), job.quads, out,
                               rest);
      }
      if (!has_pairs<Sample>(*job.window)) return 0;
      return gaussian_pairs_along_row(
          {in, count, step, job.pairs.data(), radius, out, rest, &job.wide});
    }
    return 0;
  }
};

}  // namespace

PixelFormat gaussian_between(const PixelFormat& picture, const GaussianWindow& window) {
  const int parts = 1 + (window.weighted ? 1 : 0) + (window.mask ? 1 : 0);
  return {parts * picture.channels, (window.weighted ? 4 : 2) * picture.depth};
}

void gaussian_along_rows(const ConstRows& source, const MutableRows& target,
                         const GaussianWindow& window) {
  run_gaussian<AlongRows>(source.format.depth, window.weighted, source, target, &window);
}

}  // namespace gpufilter

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "stages/gaussian_pairs.hpp"
#include "stages/gaussian_sums.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Rows of the result that are computed together.
#ifdef __x86_64__
constexpr int lines_at_once = PairLoops::lines_at_once;
#else
constexpr int lines_at_once = 1;
#endif

template <typename Sample, bool weighted>
struct AlongColumns {
  using T = GaussianTypes<Sample, weighted>;
  using Between = typename T::Between;
  using Sum = typename T::ColumnSum;
  using ProductSum = typename T::ProductSum;
  using Neighbours = ColumnNeighbours<Between>;

  struct Job {
    ConstRows source;
    MutableRows target;
    int height = 0;
    const GaussianWindow* window = nullptr;
    std::vector<Sum> weights = {};
    std::vector<ProductSum> weights_of_alpha = {};
    std::vector<std::uint32_t> pairs = {};       // for one line
    std::vector<std::uint32_t> many_pairs = {};  // for lines_at_once
    std::vector<Between> outside = {};           // a row past an edge with Border::constant
    std::vector<Sum> sums = {};
    std::vector<ProductSum> products = {};
    std::vector<const Between*> rows = {};  // the window's, from y - radius on
  };

  static void prepare([[maybe_unused]] Job& job) {
#ifdef __x86_64__
    job.pairs = pairs_for(job, 1);
    job.many_pairs = pairs_for(job, lines_at_once);
#endif
  }

#ifdef __x86_64__
  // The weights of two rows for each line, then of the next two.
  static std::vector<std::uint32_t> pairs_for(const Job& job, int lines) {
    const int radius = job.window->radius();
    const auto weight = [&](int row, int line) {
      const int distance = std::abs(row - line - radius);
      return distance <= radius ? job.window->weights[static_cast<size_t>(distance)] : 0;
    };
    std::vector<std::uint32_t> pairs;
    for (int row = 0; row < 2 * radius + lines; row += 2) {
      for (int line = 0; line < lines; ++line)
        pairs.push_back(pair_of(weight(row, line), weight(row + 1, line)));
    }
    return pairs;
  }
#endif

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(Job* job) {
    const auto channels = static_cast<size_t>(job->target.format.channels);
    const size_t numbers = static_cast<size_t>(job->source.width) * channels;
    const size_t tile = tile_numbers / channels * channels;
    job->sums.resize(tile);
    job->products.resize(weighted ? tile : 0);
    job->outside = constant_row(job->target.format, numbers);
    const RowRange rows = job->target.rows;
    for (size_t x = 0; x < numbers; x += tile) {
      const size_t count = std::min(tile, numbers - x);
      for (int y = rows.begin; y < rows.end; y += lines_at_once) {
        const int lines = std::min(lines_at_once, rows.end - y);
        find(*job, {y, y + lines}, x);
        const size_t done = fill_by_pairs<set>(*job, {y, y + lines}, x, count);
        for (int line = 0; line < lines; ++line) {
          auto* out = reinterpret_cast<Sample*>(job->target.row(y + line)) + x;
          fill(*job, line, done, count, out);
          if constexpr (weighted) weigh(*job, line, numbers, count, out);
        }
      }
    }
  }

  // Opaque black.
  static std::vector<Between> constant_row(const PixelFormat& picture, size_t numbers) {
    const auto channels = static_cast<size_t>(picture.channels);
    std::vector<Between> row(numbers * (weighted ? 2 : 1));
    if (!picture.has_alpha()) return row;
    constexpr Between max = std::numeric_limits<Sample>::max();
    for (size_t i = channels - 1; i < numbers; i += channels) {
      row[i] = static_cast<Between>(max << 7);
      if (weighted) row[numbers + i] = static_cast<Between>(max << 15);
    }
    return row;
  }

  // The rows of the windows around `lines`, and one more to make pairs.
  static void find(Job& job, const RowRange& lines, size_t x) {
    const Border border = job.window->border;
    const int radius = job.window->radius();
    job.rows.clear();
    for (int y = lines.begin - radius; y < lines.end + radius; ++y) {
      const int row = border == Border::wrap ? y : border_position(border, y, job.height);
      const bool is_outside = row < 0 && border == Border::constant;
      job.rows.push_back((is_outside ? job.outside.data()
                                     : reinterpret_cast<const Between*>(job.source.row(row))) +
                         x);
    }
    job.rows.push_back(job.rows.back());  // with the weight 0
  }

  // As many numbers of the lines as a faster loop can; returns how many. The weight of a window of
  // one pixel does not fit its pairs.
  template <InstructionSet set>
  static size_t fill_by_pairs([[maybe_unused]] const Job& job,
                              [[maybe_unused]] const RowRange& lines, [[maybe_unused]] size_t x,
                              [[maybe_unused]] size_t count) {
    size_t done = 0;
#ifdef __x86_64__
    if constexpr (sizeof(Sample) == 1 && !weighted) {
      if (job.window->radius() == 0) return 0;
      const bool together = lines.count() == lines_at_once;
      const std::vector<std::uint32_t>& pairs = together ? job.many_pairs : job.pairs;
      const int at_once = together ? lines_at_once : 1;
      for (int line = 0; line < lines.count(); line += at_once) {
        std::array<Sample*, lines_at_once> out{};
        for (int i = 0; i < at_once; ++i)
          out.at(static_cast<size_t>(i)) = job.target.row(lines.begin + line + i) + x;
        done = pair_loops(set).along_columns(job.rows.data() + line, count, pairs.data(),
                                             pairs.size() / static_cast<size_t>(at_once), at_once,
                                             out.data());
      }
    }
#endif
    return done;
  }

  // The numbers from `done` to `count` of a line.
  [[gnu::always_inline]] static void fill(Job& job, int line, size_t done, size_t count,
                                          Sample* out) {
    constexpr int shift = column_shift<Sample>;
    const Neighbours rows{job.rows.data() + line + job.window->radius(), done};
    sum_all(rows, count - done, job.weights, half_of<shift, Sum>, job.sums.data());
    for (size_t i = done; i < count; ++i)
      out[i] = static_cast<Sample>(shifted<shift>(job.sums[i - done]));
  }

  // Weights the colours of a line by alpha. The products begin `products` numbers after the plain
  // ones; the weights add up to 2^30 over the whole window.
  [[gnu::always_inline]] static void weigh(Job& job, int line, size_t products, size_t count,
                                           Sample* out) {
    const Neighbours rows{job.rows.data() + line + job.window->radius(), products};
    sum_all(rows, count, job.weights_of_alpha, ProductSum{0}, job.products.data());
    const auto channels = static_cast<size_t>(job.target.format.channels);
    constexpr std::uint64_t opaque = std::uint64_t{std::numeric_limits<Sample>::max()} << 30U;
    for (size_t i = 0; i < count; i += channels) {
      const auto alpha = static_cast<std::uint64_t>(job.products[i + channels - 1]);
      if (alpha == 0 || alpha == opaque) continue;
      for (size_t c = i; c + 1 < i + channels; ++c) {
        const auto sum = static_cast<std::uint64_t>(job.products[c]);
        out[c] = static_cast<Sample>((sum + alpha / 2) / alpha);
      }
    }
  }
};

}  // namespace

void gaussian_along_columns(const ConstRows& source, const MutableRows& target, int height,
                            const GaussianWindow& window) {
  run_gaussian<AlongColumns>(target.format.depth, window.weighted, source, target, height, &window);
}

}  // namespace gpufilter

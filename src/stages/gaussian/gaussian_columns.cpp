#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "stages/gaussian/gaussian_pairs.hpp"
#include "stages/gaussian/gaussian_sums.hpp"
#include "stages/gaussian/unsharp_mask.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Rows of the result that are computed together.
constexpr int lines_at_once = pair_lines;

template <typename Sample, bool weighted>
struct AlongColumns {
  using T = GaussianTypes<Sample, weighted>;
  using Between = typename T::Between;
  using Plain = typename T::Plain;
  using Sum = typename T::ColumnSum;
  using ProductSum = typename T::ProductSum;
  using Fine = std::conditional_t<sizeof(Sample) == 1, std::int16_t, std::int32_t>;

  struct Job {
    ConstRows source;
    MutableRows target;
    int height = 0;
    const GaussianWindow* window = nullptr;
    std::vector<Sum> weights = {};
    std::vector<ProductSum> product_weights = {};
    std::array<std::vector<std::uint32_t>, lines_at_once> pairs = {};  // for 1, 2, ... lines
    std::vector<std::uint8_t> outside = {};  // a row past an edge with Border::constant
    std::vector<Sum> sums = {};
    std::vector<ProductSum> products = {};  // lines_at_once, of a tile
    std::vector<double> divisors = {};
    std::vector<const Plain*> rows = {};  // the window's, from y - radius on
    std::vector<const Between*> product_rows = {};
    std::vector<Between> made_products = {};  // of opaque tiles
    bool opaque = false;                      // all rows of the window
    std::vector<Fine> fine = {};              // with seven more bits: lines_at_once, of a tile
  };

  static void prepare(Job& job) {
    if (weighted) job.product_weights.assign(job.weights.begin(), job.weights.end());
    for (const int lines : {lines_at_once, job.target.rows.count() % lines_at_once}) {
      if (lines > 0) job.pairs[static_cast<size_t>(lines - 1)] = pairs_for(job, lines);
    }
  }

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

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(Job* job) {
    const auto channels = static_cast<size_t>(job->target.format.channels);
    const size_t numbers = static_cast<size_t>(job->source.width) * channels;
    const size_t tile =
        weighted ? static_cast<size_t>(tile_columns(job->target.format, *job->window)) * channels
                 : tile_numbers;
    job->sums.resize(has_pairs<Sample>(*job->window) ? block : tile);
    job->products.resize(weighted ? lines_at_once * tile : 0);
    job->divisors.resize(weighted && sizeof(Sample) == 1 ? tile : 0);
    job->fine.resize(job->window->mask ? lines_at_once * tile : 0);
    if (job->window->border == Border::constant)
      job->outside = constant_row(job->target.format, numbers);
    const RowRange rows = job->target.rows;
    for (size_t x = 0; x < numbers; x += tile) {
      for (int y = rows.begin; y < rows.end; y += lines_at_once) {
        const RowRange lines{y, std::min(y + lines_at_once, rows.end)};
        const Tile place{lines, x, std::min(tile, numbers - x), numbers};
        find(*job, place);
        if constexpr (marks_opaque<Sample, weighted>) complete_products(*job, place);
        if (job->window->mask) {
          Outputs<Fine> fine{};
          for (size_t line = 0; line < lines_at_once; ++line)
            fine.at(line) = job->fine.data() + line * tile;
          fill<set, fine_column_shift<Sample>>(*job, place, fine);
          for (int line = 0; line < lines.count(); ++line)
            sharpen<set>(*job, place, line);
        } else {
          Outputs<Sample> out{};
          for (int line = 0; line < lines.count(); ++line)
            out.at(static_cast<size_t>(line)) = target_at(*job, place, line);
          fill<set, column_shift<Sample>>(*job, place, out);
        }
      }
    }
  }

  // Some lines of a tile: `count` values from `x` on. Each part of a row has `all` values.
  struct Tile {
    RowRange lines;
    size_t x = 0;
    size_t count = 0;
    size_t all = 0;
  };
  // The destination of each line.
  template <typename Out>
  using Outputs = std::array<Out*, lines_at_once>;

  static Sample* target_at(const Job& job, const Tile& tile, int line) {
    return reinterpret_cast<Sample*>(job.target.row(tile.lines.begin + line)) + tile.x;
  }

  // Opaque black.
  static std::vector<std::uint8_t> constant_row(const PixelFormat& picture, size_t numbers) {
    const auto channels = static_cast<size_t>(picture.channels);
    std::vector<std::uint8_t> row(numbers * (weighted ? 2 : 1) * sizeof(Between));
    if (!picture.has_alpha()) return row;
    constexpr Between max = std::numeric_limits<Sample>::max();
    auto* plain = reinterpret_cast<Plain*>(row.data());
    auto* products = reinterpret_cast<Between*>(row.data()) + numbers;
    for (size_t i = channels - 1; i < numbers; i += channels) {
      plain[i] = static_cast<Plain>(max << 7);
      if (weighted) products[i] = static_cast<Between>(opaque_alpha<Sample>);
    }
    return row;
  }

  // Finds the rows of the windows around the lines, and one more to make pairs.
  static void find(Job& job, const Tile& tile) {
    const Border border = job.window->border;
    const int radius = job.window->radius();
    job.rows.clear();
    job.product_rows.clear();
    for (int y = tile.lines.begin - radius; y < tile.lines.end + radius; ++y) {
      const int row = border == Border::wrap ? y : border_position(border, y, job.height);
      const bool is_outside = row < 0 && border == Border::constant;
      const std::uint8_t* from = is_outside ? job.outside.data() : job.source.row(row);
      job.rows.push_back(reinterpret_cast<const Plain*>(from) + tile.x);
      if (weighted)
        job.product_rows.push_back(reinterpret_cast<const Between*>(from) + tile.all + tile.x);
    }
    job.rows.push_back(job.rows.back());  // with the weight 0
  }

  // Makes the products of rows whose tile is opaque, unless all are.
  [[gnu::always_inline]] static void complete_products(Job& job, const Tile& tile) {
    const auto is_marked = [](const Between* products) { return *products == opaque_tile; };
    job.opaque = std::all_of(job.product_rows.begin(), job.product_rows.end(), is_marked);
    if (job.opaque) return;
    const auto channels = static_cast<size_t>(job.target.format.channels);
    constexpr Between max = std::numeric_limits<Sample>::max();
    job.made_products.resize(job.product_rows.size() * tile.count);
    Between* made = job.made_products.data();
    for (size_t row = 0; row < job.product_rows.size(); ++row) {
      const Between*& products = job.product_rows[row];
      if (!is_marked(products)) continue;
      const Plain* plain = job.rows[row];
      const std::int16_t* rest = rest_of_sums(products);
      for (size_t i = 0; i < tile.count; ++i)
        made[i] = max * (plain[i] * 256 + rest[i] - half_of<row_shift<Sample>, Between>);
      for (size_t i = channels - 1; i < tile.count; i += channels)
        made[i] = static_cast<Between>(opaque_alpha<Sample>);
      products = made;
      made += tile.count;
    }
  }

  // Sums without their last `bits` bits.
  template <InstructionSet set, int bits, typename Out>
  [[gnu::always_inline]] static void fill(Job& job, const Tile& tile, const Outputs<Out>& out) {
    const size_t done = fill_by_pairs(job, tile, out);
    for (int line = 0; line < tile.lines.count(); ++line) {
      Out* to = out.at(static_cast<size_t>(line));
      const ColumnNeighbours<Plain> rows{job.rows.data() + line + job.window->radius(), done};
      sum_all(rows, tile.count - done, job.weights, half_of<bits, Sum>, job.sums.data());
      for (size_t i = done; i < tile.count; ++i)
        to[i] = static_cast<Out>(shifted<bits>(job.sums[i - done]));
    }
    if constexpr (weighted) {
      if (!job.opaque) weigh<set, column_shift<Sample> - bits>(job, tile, out);
    }
  }

  // Computes all values, or none if no faster loop applies; returns how many.
  template <typename Out>
  static size_t fill_by_pairs([[maybe_unused]] const Job& job, [[maybe_unused]] const Tile& tile,
                              [[maybe_unused]] const Outputs<Out>& out) {
    if constexpr (sizeof(Sample) == 1) {
      if (!has_pairs<Sample>(*job.window)) return 0;
      const int lines = tile.lines.count();
      const std::vector<std::uint32_t>& pairs = job.pairs[static_cast<size_t>(lines - 1)];
      return gaussian_pairs_along_columns({job.rows.data(), tile.count, pairs.data(),
                                           pairs.size() / static_cast<size_t>(lines), lines,
                                           out.data()});
    }
    return 0;
  }

  // Weights the colours by alpha; they have `more_bits` more bits than samples.
  template <InstructionSet set, int more_bits, typename Out>
  [[gnu::always_inline]] static void weigh(Job& job, const Tile& tile, const Outputs<Out>& out) {
    Outputs<ProductSum> sums{};
    for (size_t line = 0; line < lines_at_once; ++line)
      sums.at(line) = job.products.data() + line * job.products.size() / lines_at_once;
    const size_t done = sum_products_by_pairs(job, tile, sums);
    const int channels = job.target.format.channels;
    for (int line = 0; line < tile.lines.count(); ++line) {
      ProductSum* of_line = sums.at(static_cast<size_t>(line));
      const ColumnNeighbours<Between> rows{job.product_rows.data() + line + job.window->radius(),
                                           done};
      sum_all(rows, tile.count - done, job.product_weights, ProductSum{0}, of_line + done);
      Out* to = out.at(static_cast<size_t>(line));
      channels == 4 ? divide<4, more_bits>(job, of_line, tile.count, to)
                    : divide<2, more_bits>(job, of_line, tile.count, to);
    }
  }

  static size_t sum_products_by_pairs([[maybe_unused]] Job& job, [[maybe_unused]] const Tile& tile,
                                      [[maybe_unused]] const Outputs<ProductSum>& sums) {
    if constexpr (sizeof(Sample) == 1) {
      if (!has_pairs<Sample>(*job.window)) return 0;
      job.product_rows.push_back(job.product_rows.back());  // with the weight 0
      const int lines = tile.lines.count();
      const std::vector<std::uint32_t>& pairs = job.pairs[static_cast<size_t>(lines - 1)];
      return gaussian_pairs_along_columns({job.product_rows.data(), tile.count, pairs.data(),
                                           pairs.size() / static_cast<size_t>(lines), lines,
                                           sums.data()});
    }
    return 0;
  }

  // Replaces colours by the quotient of their sum and of alpha's, unless alpha is 0 or opaque.
  template <size_t channels, int more_bits, typename Out>
  [[gnu::always_inline]] static void divide([[maybe_unused]] Job& job, const ProductSum* sums,
                                            size_t count, Out* out) {
    constexpr auto opaque =
        static_cast<ProductSum>(opaque_alpha<Sample> << gaussian_weight_bits(8 * sizeof(Sample)));
    if constexpr (sizeof(Sample) == 1) {
      constexpr double none = 1e18;
      double* divisors = job.divisors.data();
      for (size_t i = 0; i < count; i += channels) {
        const double alpha = sums[i + channels - 1];
        for (size_t c = 0; c + 1 < channels; ++c)
          divisors[i + c] = alpha == 0 || alpha == opaque ? none : alpha;
        divisors[i + channels - 1] = none;
      }
      // The quotient is never rounded up to a whole number: it is below 2^15, and the divisor
      // below 2^38, so it is at least 2^-38 less. Products with the divisor are below 2^53.
      for (size_t i = 0; i < count; ++i) {
        const double divisor = divisors[i];
        const double sum = sums[i] * (1 << more_bits);
        const auto whole = static_cast<std::int32_t>(sum / divisor);
        const double rest = sum - whole * divisor;
        const std::int32_t rounded = whole + static_cast<std::int32_t>(2 * rest >= divisor);
        const std::int32_t stays = -static_cast<std::int32_t>(divisor == none);
        out[i] = static_cast<Out>((out[i] & stays) | (rounded & ~stays));
      }
    } else {
      constexpr ProductSum max = ProductSum{std::numeric_limits<Sample>::max()} << more_bits;
      for (size_t i = 0; i < count; i += channels) {
        const ProductSum alpha = sums[i + channels - 1];
        // Sums of colours have this many bits fewer.
        const ProductSum divisor = alpha >> (product_row_shift - alpha_row_shift);
        if (divisor == 0 || alpha == opaque) continue;
        for (size_t c = i; c + 1 < i + channels; ++c) {
          // In two parts, because the sum has up to 63 bits.
          const ProductSum rest = ((sums[c] % divisor << more_bits) + divisor / 2) / divisor;
          out[c] = static_cast<Out>(std::min((sums[c] / divisor << more_bits) + rest, max));
        }
      }
    }
  }

  // Applies the mask to a line, whose Gaussian is in job.fine.
  template <InstructionSet set>
  [[gnu::always_inline]] static void sharpen(Job& job, const Tile& tile, int line) {
    const Fine* fine =
        job.fine.data() + static_cast<size_t>(line) * job.fine.size() / lines_at_once;
    const Between* original =
        reinterpret_cast<const Between*>(job.source.row(tile.lines.begin + line)) +
        (weighted ? 2 : 1) * tile.all + tile.x;
    sharpen_line<set, Sample>(original, fine, tile.count, job.target.format, *job.window->mask,
                              target_at(job, tile, line));
  }
};

}  // namespace

void gaussian_along_columns(const ConstRows& source, const MutableRows& target, int height,
                            const GaussianWindow& window) {
  run_gaussian<AlongColumns>(target.format.depth, window.weighted, source, target, height, &window);
}

}  // namespace gpufilter

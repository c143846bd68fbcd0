#include "compare/structural_similarity.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/loops.hpp"
#include "host/parallel.hpp"

namespace gpufilter {
namespace {

constexpr int window = StructuralSimilarity::window;
constexpr int radius = window / 2;
constexpr int kept_rows = window - 1;

// exp(-i^2 / (2 1.5^2)) for i = 0, ..., 5, divided by the sum over the window. Given as literals,
// because the last bits of exp differ between machines.
constexpr std::array<double, radius + 1> weights{0.2660117248617943,   0.21300553771125366,
                                                 0.1093606895097,      0.03600077212843082,
                                                 0.007598758135239184, 0.001028380084479109};

// Samples of a row that are computed together: a multiple of every number of channels.
constexpr int tile = 480;
constexpr int tile_reach = tile + kept_rows * 4;

// Weighted means of columns: of the samples, of the sum of their squares and of their product.
struct ColumnMeans {
  alignas(64) std::array<double, tile_reach> a;
  alignas(64) std::array<double, tile_reach> b;
  alignas(64) std::array<double, tile_reach> squares;
  alignas(64) std::array<double, tile_reach> product;
};

struct Stabilizers {
  double c1;
  double c2;
};

// A row of windows: `count` of them, each `channels` samples to the right of the last one of its
// channel. The values are in the order of the samples.
template <typename Sample>
struct Tile {
  std::array<const Sample*, window> a;
  std::array<const Sample*, window> b;
  int count;
  int channels;
  Stabilizers stabilizers;
  double* values;
};

// Sums of products of 8-bit samples fit in 32 bits; with 16-bit samples they do not.
template <typename Sample>
using Word = std::conditional_t<sizeof(Sample) == 1, std::int32_t, double>;

// Adds two rows at the same distance from the middle of the window, or sets the means to them.
template <typename Sample, bool is_first>
[[gnu::always_inline]] inline void add_rows(const Sample* __restrict a_above,
                                            const Sample* __restrict a_below,
                                            const Sample* __restrict b_above,
                                            const Sample* __restrict b_below, double weight,
                                            int count, ColumnMeans& means) {
  double* __restrict sum_a = means.a.data();
  double* __restrict sum_b = means.b.data();
  double* __restrict sum_squares = means.squares.data();
  double* __restrict sum_product = means.product.data();
  for (int i = 0; i < count; ++i) {
    const Word<Sample> a0 = a_above[i];
    const Word<Sample> a1 = a_below[i];
    const Word<Sample> b0 = b_above[i];
    const Word<Sample> b1 = b_below[i];
    const double a = weight * static_cast<double>(a0 + a1);
    const double b = weight * static_cast<double>(b0 + b1);
    const double squares = weight * static_cast<double>((a0 * a0 + b0 * b0) + (a1 * a1 + b1 * b1));
    const double product = weight * static_cast<double>(a0 * b0 + a1 * b1);
    sum_a[i] = is_first ? a : sum_a[i] + a;
    sum_b[i] = is_first ? b : sum_b[i] + b;
    sum_squares[i] = is_first ? squares : sum_squares[i] + squares;
    sum_product[i] = is_first ? product : sum_product[i] + product;
  }
}

// The weighted mean of the columns of the window that begins at `column`.
[[gnu::always_inline]] inline double across(const double* column, int step) {
  double sum = weights[0] * column[radius * step];
  sum += weights[1] * (column[(radius - 1) * step] + column[(radius + 1) * step]);
  sum += weights[2] * (column[(radius - 2) * step] + column[(radius + 2) * step]);
  sum += weights[3] * (column[(radius - 3) * step] + column[(radius + 3) * step]);
  sum += weights[4] * (column[(radius - 4) * step] + column[(radius + 4) * step]);
  sum += weights[5] * (column[(radius - 5) * step] + column[(radius + 5) * step]);
  return sum;
}

// Exactly 1 for equal windows: then numerator and denominator have equal factors.
[[gnu::always_inline]] inline double similarity(double a, double b, double squares, double product,
                                                const Stabilizers& stabilizers) {
  const double mean_product = a * b;
  const double mean_squares = a * a + b * b;
  return ((2 * mean_product + stabilizers.c1) * (2 * (product - mean_product) + stabilizers.c2)) /
         ((mean_squares + stabilizers.c1) * ((squares - mean_squares) + stabilizers.c2));
}

// The rows of a row of windows, from the top.
struct WindowRows {
  std::array<const std::uint8_t*, window> a;
  std::array<const std::uint8_t*, window> b;
};

template <typename Sample>
struct SimilarityLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Tile<Sample>* tile_of_row) {
    const Tile<Sample>& t = *tile_of_row;
    ColumnMeans means;
    const int reach = t.count + kept_rows * t.channels;
    // The middle row is added as two halves of a pair.
    add_rows<Sample, true>(t.a[radius], t.a[radius], t.b[radius], t.b[radius], weights[0] / 2,
                           reach, means);
    for (int i = 1; i <= radius; ++i) {
      const auto above = static_cast<std::size_t>(radius - i);
      const auto below = static_cast<std::size_t>(radius + i);
      add_rows<Sample, false>(t.a[above], t.a[below], t.b[above], t.b[below],
                              weights[static_cast<std::size_t>(i)], reach, means);
    }
    double* __restrict values = t.values;
    const int step = t.channels;
    for (int i = 0; i < t.count; ++i) {
      values[i] = similarity(across(&means.a[0] + i, step), across(&means.b[0] + i, step),
                             across(&means.squares[0] + i, step),
                             across(&means.product[0] + i, step), t.stabilizers);
    }
  }
};

template <typename Sample>
const Sample* samples_at(const std::uint8_t* row, int index) {
  return reinterpret_cast<const Sample*>(row) + index;
}

Stabilizers stabilizers_of(PixelFormat format) {
  const double c1 = 0.01 * format.max_sample();
  const double c2 = 0.03 * format.max_sample();
  return {c1 * c1, c2 * c2};
}

// The sums of the similarities of a row of windows, for each channel. Added from left to right.
template <typename Sample>
std::array<double, 4> sums_of(const WindowRows& rows, int width, PixelFormat format) {
  std::array<double, 4> sums{};
  std::array<double, tile> values;
  const int count = (width - kept_rows) * format.channels;
  Tile<Sample> part{{}, {}, 0, format.channels, stabilizers_of(format), values.data()};
  for (int begin = 0; begin < count; begin += tile) {
    for (std::size_t i = 0; i < window; ++i) {
      part.a[i] = samples_at<Sample>(rows.a[i], begin);
      part.b[i] = samples_at<Sample>(rows.b[i], begin);
    }
    part.count = std::min(tile, count - begin);
    run_loop<SimilarityLoop<Sample>>(&std::as_const(part));
    for (int i = 0; i < part.count; ++i)
      sums[static_cast<std::size_t>(i % format.channels)] += values[static_cast<std::size_t>(i)];
  }
  return sums;
}

bool are_equal_rows(const ConstRows& a, const ConstRows& b, int y) {
  return std::memcmp(a.row(y), b.row(y), a.row_bytes()) == 0;
}

int slot_of(int y) {
  return y % kept_rows;
}

}  // namespace

StructuralSimilarity::StructuralSimilarity(ImageSize size, PixelFormat format)
    : size_(size), format_(format) {
  if (size.width < window || size.height < window) return;
  kept_a_ = Image({size.width, kept_rows}, format);
  kept_b_ = Image({size.width, kept_rows}, format);
}

void StructuralSimilarity::add(const ConstRows& a, const ConstRows& b) {
  if (size_.width < window || size_.height < window) return;
  const int first = std::max(a.rows.begin, kept_rows);
  std::vector<Sums> sums(static_cast<std::size_t>(std::max(a.rows.end - first, 0)));
  std::vector<int> rows_to_measure;
  for (int y = a.rows.begin; y < a.rows.end; ++y) {
    equal_rows_ = are_equal_rows(a, b, y) ? equal_rows_ + 1 : 0;
    if (y < first) continue;
    // Equal windows have a similarity of exactly 1.
    if (equal_rows_ >= window)
      sums[static_cast<std::size_t>(y - first)].fill(size_.width - kept_rows);
    else
      rows_to_measure.push_back(y);
  }
  run_parts(static_cast<int>(rows_to_measure.size()), [&](int part) {
    const int y = rows_to_measure[static_cast<std::size_t>(part)];
    sums[static_cast<std::size_t>(y - first)] = sums_of_windows_ending_at(y, a, b);
  });
  for (const Sums& row : sums) {
    for (std::size_t c = 0; c < row.size(); ++c)
      sums_[c] += row[c];
  }
  rows_of_windows_ += static_cast<int>(sums.size());
  keep_last_rows(a, b);
}

StructuralSimilarity::Sums StructuralSimilarity::sums_of_windows_ending_at(
    int y, const ConstRows& a, const ConstRows& b) const {
  const auto row = [&](const ConstRows& rows, const Image& kept, int from_top) {
    const int wanted = y - kept_rows + from_top;
    return wanted < rows.rows.begin ? kept.rows().row(slot_of(wanted)) : rows.row(wanted);
  };
  WindowRows rows{};
  for (int i = 0; i < window; ++i) {
    rows.a[static_cast<std::size_t>(i)] = row(a, kept_a_, i);
    rows.b[static_cast<std::size_t>(i)] = row(b, kept_b_, i);
  }
  return format_.depth == 8 ? sums_of<std::uint8_t>(rows, size_.width, format_)
                            : sums_of<std::uint16_t>(rows, size_.width, format_);
}

void StructuralSimilarity::keep_last_rows(const ConstRows& a, const ConstRows& b) {
  const std::size_t bytes = row_bytes(size_.width, format_);
  for (int y = std::max(a.rows.begin, a.rows.end - kept_rows); y < a.rows.end; ++y) {
    std::memcpy(kept_a_.rows().row(slot_of(y)), a.row(y), bytes);
    std::memcpy(kept_b_.rows().row(slot_of(y)), b.row(y), bytes);
  }
}

std::optional<double> StructuralSimilarity::mean() const {
  if (rows_of_windows_ == 0) return std::nullopt;
  const double windows = static_cast<double>(rows_of_windows_) * (size_.width - kept_rows);
  double sum = 0;
  for (int c = 0; c < format_.channels; ++c)
    sum += sums_[static_cast<std::size_t>(c)] / windows;
  return sum / format_.channels;
}

}  // namespace gpufilter

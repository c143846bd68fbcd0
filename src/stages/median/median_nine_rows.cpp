// Functions that take vectors are inlined into those that are compiled for them.
#pragma GCC diagnostic ignored "-Wpsabi"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "host/loops.hpp"
#include "stage/window_rows.hpp"
#include "stages/median/median_rows.hpp"
#include "stages/median/median_vectors.hpp"

namespace gpufilter {
namespace {

using median::larger;
using median::smaller;
using std::size_t;

// Rows of the result that are computed side by side, in pairs: what a row's windows have in common
// is computed once for the rows above and below it too.
constexpr size_t group_rows = 8;
static_assert(group_rows % 2 == 0);
constexpr size_t max_channels = 4;

template <typename Number>
struct Sorted {
  Number low;
  Number middle;
  Number high;
};

template <typename Number>
[[gnu::always_inline]] inline Sorted<Number> sorted(const Number& a, const Number& b,
                                                    const Number& c) {
  const Number low = smaller(a, b);
  const Number high = larger(a, b);
  const Number not_lowest = larger(low, c);
  return {smaller(low, c), smaller(not_lowest, high), larger(not_lowest, high)};
}

template <typename Number>
[[gnu::always_inline]] inline Number middle_of(const Number& a, const Number& b, const Number& c) {
  return larger(smaller(a, b), smaller(larger(a, b), c));
}

// What two sorted rows have in common for the windows that contain both.
template <typename Number>
struct Pair {
  [[gnu::always_inline]] Pair(const Sorted<Number>& a, const Sorted<Number>& b)
      : lows(larger(a.low, b.low)),
        lower(smaller(a.middle, b.middle)),
        upper(larger(a.middle, b.middle)),
        highs(smaller(a.high, b.high)) {}

  // The median of nine is the median of the largest low, the middle middle and the smallest high
  // of three sorted rows.
  [[nodiscard, gnu::always_inline]] Number median_with(const Sorted<Number>& third) const {
    return middle_of(larger(lows, third.low), larger(lower, smaller(upper, third.middle)),
                     smaller(highs, third.high));
  }

  Number lows;
  Number lower;  // of the middles
  Number upper;
  Number highs;
};

// Rows of the result, an even number, and those around them.
template <typename Sample>
struct Group {
  size_t rows = 0;
  std::array<const Sample*, group_rows + 2> in{};
  std::array<Sample*, group_rows> out{};
};

template <typename Number, typename Sample>
[[gnu::always_inline]] inline Sorted<Number> sorted_at(const Sample* place, size_t step) {
  return sorted(load<Number>(place - step), load<Number>(place), load<Number>(place + step));
}

// The number at `at` of each row of the group; neighbours are `step` samples away.
template <typename Number, typename Sample>
[[gnu::always_inline]] inline void fill_column(const Group<Sample>& group, size_t at, size_t step) {
  Sorted<Number> above = sorted_at<Number>(group.in[0] + at, step);
  Sorted<Number> first = sorted_at<Number>(group.in[1] + at, step);
#pragma GCC unroll 4
  for (size_t i = 0; i < group.rows; i += 2) {
    const Sorted<Number> second = sorted_at<Number>(group.in[i + 2] + at, step);
    const Sorted<Number> below = sorted_at<Number>(group.in[i + 3] + at, step);
    const Pair<Number> pair(first, second);
    const Number upper = pair.median_with(above);
    const Number lower = pair.median_with(below);
    std::memcpy(group.out[i] + at, &upper, sizeof upper);
    std::memcpy(group.out[i + 1] + at, &lower, sizeof lower);
    above = second;
    first = below;
  }
}

template <typename Sample>
class Nines {
 public:
  Nines(const ConstRows& source, int height, Border border)
      : rows_(source, height, border),
        border_(border),
        width_(source.width),
        step_(static_cast<size_t>(source.format.channels)),
        samples_(static_cast<size_t>(source.width) * step_),
        pitch_(source.pitch),
        spare_(samples_) {}

  template <InstructionSet set>
  [[gnu::always_inline]] void fill(const MutableRows& target) {
    using Vector = typename median::VectorOf<Sample, set>::type;
    constexpr size_t lanes = sizeof(Vector) / sizeof(Sample);
    const int rows_at_once = std::min(suiting_rows(pitch_), suiting_rows(target.pitch));
    for (int y = target.rows.begin; y < target.rows.end; y += rows_at_once) {
      const Group<Sample> group =
          group_at(target.part({y, std::min(y + rows_at_once, target.rows.end)}));
      fill_ends(group);
      const size_t end = samples_ - step_;
      if (end < step_ + lanes) {
        for (size_t i = step_; i < end; ++i)
          fill_column<Sample>(group, i, step_);
        continue;
      }
      // The last vector computes some medians again.
      for (size_t i = step_; i < end; i += lanes)
        fill_column<Vector>(group, std::min(i, end - lanes), step_);
    }
  }

 private:
  // Few enough that rows with the same place in the first-level cache do not evict each other:
  // places repeat every 4 KiB, and there are 8 for each.
  static int suiting_rows(size_t pitch) {
    if (pitch % 4096 == 0) return 2;
    return pitch % 2048 == 0 ? 4 : static_cast<int>(group_rows);
  }

  // The last of an odd number of rows has a spare one beside it.
  Group<Sample> group_at(const MutableRows& target) {
    Group<Sample> group;
    for (int y = target.rows.begin; y < target.rows.end; ++y)
      group.out[group.rows++] = reinterpret_cast<Sample*>(target.row(y));
    for (size_t i = 0; i < group.rows + 2; ++i)
      group.in[i] = rows_.row(target.rows.begin - 1 + static_cast<int>(i));
    if (group.rows % 2 != 0) {
      group.in[group.rows + 2] = group.in[group.rows + 1];
      group.out[group.rows++] = spare_.data();
    }
    return group;
  }

  void fill_ends(const Group<Sample>& group) const {
    fill_end(group, 0);
    if (width_ > 1) fill_end(group, width_ - 1);
  }

  // The pixels of column x, whose neighbours may lie outside the picture.
  void fill_end(const Group<Sample>& group, int x) const {
    std::array<std::array<Sample, 3 * max_channels>, group_rows + 2> columns;
    Group<Sample> end{.rows = group.rows};
    for (size_t row = 0; row < group.rows + 2; ++row) {
      Sample* to = columns[row].data();
      end.in[row] = to;
      for (int column = x - 1; column <= x + 1; ++column) {
        const int from = border_position(border_, column, width_);
        to = std::copy_n(
            from < 0 ? rows_.outside() : group.in[row] + static_cast<size_t>(from) * step_, step_,
            to);
      }
    }
    std::array<std::array<Sample, 3 * max_channels>, group_rows> medians;
    for (size_t row = 0; row < group.rows; ++row)
      end.out[row] = medians[row].data();
    for (size_t i = step_; i < 2 * step_; ++i)
      fill_column<Sample>(end, i, step_);
    for (size_t row = 0; row < group.rows; ++row)
      std::copy_n(end.out[row] + step_, step_, group.out[row] + static_cast<size_t>(x) * step_);
  }

  WindowRows<Sample> rows_;
  Border border_;
  int width_;
  size_t step_;     // samples of a pixel
  size_t samples_;  // of a row
  size_t pitch_;    // of the source
  std::vector<Sample> spare_;
};

template <typename Sample>
struct NineLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         int height, Border border) {
    Nines<Sample>(source, height, border).template fill<set>(target);
  }
};

}  // namespace

void median_nine_rows(const ConstRows& source, const MutableRows& target, int height,
                      Border border) {
  run_loop_of_depth<NineLoop>(source.format.depth, source, target, height, border);
}

}  // namespace gpufilter

// Functions that take vectors are inlined into those that are compiled for them.
#pragma GCC diagnostic ignored "-Wpsabi"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "host/vectors.hpp"
#include "stage/window_rows.hpp"
#include "stages/median/median.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Rows of the result that are computed together, in pairs: comparisons shared by the windows of
// neighbouring rows are done once.
constexpr size_t group_rows = 8;
static_assert(group_rows % 2 == 0);

template <typename Number>
struct Sorted {
  Number low;
  Number middle;
  Number high;
};

template <typename Number>
[[gnu::always_inline]] inline Sorted<Number> sorted(const Number& a, const Number& b,
                                                    const Number& c) {
  const Number low = minimum(a, b);
  const Number high = maximum(a, b);
  const Number not_lowest = maximum(low, c);
  return {minimum(low, c), minimum(not_lowest, high), maximum(not_lowest, high)};
}

template <typename Number>
[[gnu::always_inline]] inline Number middle_of(const Number& a, const Number& b, const Number& c) {
  return maximum(minimum(a, b), minimum(maximum(a, b), c));
}

// The part of two sorted rows that all windows containing both share.
template <typename Number>
struct Pair {
  [[gnu::always_inline]] Pair(const Sorted<Number>& a, const Sorted<Number>& b)
      : lows(maximum(a.low, b.low)),
        lower(minimum(a.middle, b.middle)),
        upper(maximum(a.middle, b.middle)),
        highs(minimum(a.high, b.high)) {}

  // The median of nine is the median of the largest low, the middle middle and the smallest high
  // of three sorted rows.
  [[nodiscard, gnu::always_inline]] Number median_with(const Sorted<Number>& third) const {
    return middle_of(maximum(lows, third.low), maximum(lower, minimum(upper, third.middle)),
                     minimum(highs, third.high));
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

// Few enough rows that those that map to the same set of the first-level cache do not evict each
// other: sets repeat every 4 KiB and have 8 ways.
int suiting_rows(size_t pitch) {
  if (pitch % 4096 == 0) return 2;
  return pitch % 2048 == 0 ? 4 : static_cast<int>(group_rows);
}

template <typename Sample>
struct NineLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         int height, Border border) {
    using Samples = Vector<Sample, set>;
    constexpr size_t lanes = count_of<Samples>;
    const auto step = static_cast<size_t>(source.format.channels);
    const int rows_at_once = std::min(suiting_rows(source.pitch), suiting_rows(target.pitch));
    WindowRows<Sample> rows(
        source, {.height = height, .border = border, .radius = 1, .rows = group_rows + 2});
    std::vector<Sample> spare;
    rows.for_tiles(
        target.rows.begin - 1, [&](const Columns& tile) __attribute__((always_inline)) {
          const size_t end = static_cast<size_t>(tile.count()) * step;
          if (target.rows.count() % 2 != 0) spare.resize(std::max(spare.size(), end));
          for (int y = target.rows.begin; y < target.rows.end; y += rows_at_once) {
            const RowRange lines{y, std::min(y + rows_at_once, target.rows.end)};
            rows.reach(lines.end);
            const Group<Sample> group = group_of(rows, target.part(lines), step, spare.data());
            if (end < lanes) {
              for (size_t i = 0; i < end; ++i)
                fill_column<Sample>(group, i, step);
              continue;
            }
            // The last vector computes some medians again.
            for (size_t i = 0; i < end; i += lanes)
              fill_column<Samples>(group, std::min(i, end - lanes), step);
          }
        });
  }

  // An odd last row is paired with a spare one.
  static Group<Sample> group_of(const WindowRows<Sample>& rows, const MutableRows& target,
                                size_t step, Sample* spare) {
    Group<Sample> group;
    for (int y = target.rows.begin; y < target.rows.end; ++y)
      group.out[group.rows++] = rows.target_at(target, y);
    for (size_t i = 0; i < group.rows + 2; ++i)
      group.in[i] = rows.row(target.rows.begin - 1 + static_cast<int>(i)) + step;
    if (group.rows % 2 != 0) {
      group.in[group.rows + 2] = group.in[group.rows + 1];
      group.out[group.rows++] = spare;
    }
    return group;
  }
};

}  // namespace

void median_nine_rows(const ConstRows& source, const MutableRows& target, int height,
                      Border border) {
  run_loop_of_depth<NineLoop>(source.format.depth, source, target, height, border);
}

}  // namespace gpufilter

#include <algorithm>
#include <array>
#include <vector>

#include "host/loops.hpp"
#include "stage/window_rows.hpp"
#include "stages/median/median.hpp"
#include "stages/median/median_networks.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Samples that are processed together: one or more whole vectors.
constexpr size_t block = 64;

// Medians of whole rows by networks. Columns are sorted part by part, so that they stay in the
// first-level cache.
template <typename Sample, int radius>
class NetworkMedians {
 public:
  static constexpr size_t side = 2 * radius + 1;
  using Numbers = std::array<Sample, side>;
  using Rows = std::array<const Sample*, side>;

  explicit NetworkMedians(size_t channels) : margin_(radius * channels) {
    for (std::vector<Sample>& row : sorted_)
      row.resize(part + 2 * margin_);
  }

  // Fills `samples` medians. The window's `rows` begin with the columns before the first one's.
  [[gnu::always_inline]] void fill(const Rows& rows, size_t samples, Sample* medians) {
    for (size_t from = 0; from < samples; from += part) {
      const size_t count = std::min(part, samples - from);
      sort_columns(rows, from, count + 2 * margin_);
      select(count, medians + from);
    }
  }

 private:
  static constexpr size_t part = 2048;
  using Steps = median::Network<radius>;
  template <size_t count>
  using Indices = std::make_index_sequence<count>;

  [[gnu::always_inline]] void sort_columns(const Rows& rows, size_t from, size_t count) {
    Rows in;
    std::array<Sample*, side> out;
    for (size_t i = 0; i < side; ++i) {
      in[i] = rows[i] + from;
      out[i] = sorted_[i].data();
    }
    in_blocks(
        count, [&](size_t k) __attribute__((always_inline)) {
          Numbers numbers;
          read(numbers, in, k, Indices<side>());
          median::compare<Steps::sorting>(numbers);
          write(numbers, out, k, Indices<side>());
        });
  }

  [[gnu::always_inline]] void select(size_t count, Sample* medians) {
    std::array<const Sample*, side * side> in;
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = sorted_[i / side].data() + i % side * (margin_ / radius);
    in_blocks(
        count, [&](size_t k) __attribute__((always_inline)) {
          std::array<Sample, side * side> numbers;
          read(numbers, in, k, Indices<side * side>());
          median::compare<Steps::selecting>(numbers);
          medians[k] = numbers[Steps::result];
        });
  }

  // Calls step(k) for each k below `count`; the last block repeats some.
  template <typename Step>
  [[gnu::always_inline]] static void in_blocks(size_t count, const Step& step) {
    if (count < block) {
      for (size_t k = 0; k < count; ++k)
        step(k);
      return;
    }
    for (size_t i = 0; i < count; i += block) {
      const size_t at = std::min(i, count - block);
#pragma GCC ivdep
      for (size_t k = at; k < at + block; ++k)
        step(k);
    }
  }

  template <typename To, typename Pointers, size_t... i>
  [[gnu::always_inline]] static void read(To& numbers, const Pointers& from, size_t at,
                                          std::index_sequence<i...>) {
    ((numbers[i] = from[i][at]), ...);
  }
  template <typename From, typename Pointers, size_t... i>
  [[gnu::always_inline]] static void write(const From& numbers, const Pointers& to, size_t at,
                                           std::index_sequence<i...>) {
    ((to[i][at] = numbers[i]), ...);
  }

  size_t margin_;  // samples of a window before its middle
  std::array<std::vector<Sample>, side> sorted_;
};

template <typename Sample, int radius>
struct NetworkLoop {
  using Medians = NetworkMedians<Sample, radius>;

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         int height, Border border) {
    WindowRows<Sample> window(source, {.height = height,
                                       .border = border,
                                       .radius = radius,
                                       .rows = Medians::side,
                                       .copied = true});
    Medians medians(static_cast<size_t>(source.format.channels));
    window.for_rows(
        target, radius, [&](int y, size_t samples, Sample* out) __attribute__((always_inline)) {
          typename Medians::Rows rows;
          for (int i = 0; i < static_cast<int>(rows.size()); ++i)
            rows[static_cast<size_t>(i)] = window.row(y - radius + i);
          medians.fill(rows, samples, out);
        });
  }
};

template <typename Sample>
void fill(const ConstRows& source, const MutableRows& target, int height, Border border,
          int radius) {
  if (radius == 2) return run_loop<NetworkLoop<Sample, 2>>(source, target, height, border);
  run_loop<NetworkLoop<Sample, max_network_radius>>(source, target, height, border);
}

}  // namespace

void median_network_rows(const ConstRows& source, const MutableRows& target, int height,
                         Border border, int radius) {
  if (source.format.depth == 8) {
    fill<std::uint8_t>(source, target, height, border, radius);
  } else {
    fill<std::uint16_t>(source, target, height, border, radius);
  }
}

}  // namespace gpufilter

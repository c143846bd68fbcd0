#include <algorithm>
#include <array>
#include <vector>

#include "host/loops.hpp"
#include "stage/window_rows.hpp"
#include "stages/median/median_networks.hpp"
#include "stages/median/median_rows.hpp"

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

  explicit NetworkMedians(size_t channels)
      : margin_(static_cast<std::ptrdiff_t>(radius * channels)) {
    for (std::vector<Sample>& row : sorted_)
      row.resize(part + 2 * static_cast<size_t>(margin_));
  }

  // The window's `rows` have this many samples. The column at a place before or after them is
  // column_at(place).
  template <typename ColumnAt>
  [[gnu::always_inline]] void fill(const Rows& rows, size_t samples, const ColumnAt& column_at,
                                   Sample* medians) {
    for (size_t from = 0; from < samples; from += part) {
      const auto begin = static_cast<std::ptrdiff_t>(from) - margin_;
      const size_t count = std::min(part, samples - from);
      const std::ptrdiff_t end = begin + static_cast<std::ptrdiff_t>(count) + 2 * margin_;
      const std::ptrdiff_t inner_begin = std::max(begin, std::ptrdiff_t{0});
      const std::ptrdiff_t inner_end = std::min(end, static_cast<std::ptrdiff_t>(samples));
      for (std::ptrdiff_t at = begin; at < inner_begin; ++at)
        sort_column(column_at(at), at - begin);
      sort_columns(rows, inner_begin, inner_end, begin);
      for (std::ptrdiff_t at = inner_end; at < end; ++at)
        sort_column(column_at(at), at - begin);
      select(count, medians + from);
    }
  }

 private:
  static constexpr size_t part = 2048;
  using Steps = median::Network<radius>;
  template <size_t count>
  using Indices = std::make_index_sequence<count>;

  [[gnu::always_inline]] void sort_column(Numbers numbers, std::ptrdiff_t to) {
    median::compare<Steps::sorting>(numbers);
    for (size_t i = 0; i < side; ++i)
      sorted_[i][static_cast<size_t>(to)] = numbers[i];
  }

  // Those from `begin` to `end`; the one at `origin` would become the first.
  [[gnu::always_inline]] void sort_columns(const Rows& rows, std::ptrdiff_t begin,
                                           std::ptrdiff_t end, std::ptrdiff_t origin) {
    Rows in;
    std::array<Sample*, side> out;
    for (size_t i = 0; i < side; ++i) {
      in[i] = rows[i] + begin;
      out[i] = sorted_[i].data() + (begin - origin);
    }
    in_blocks(
        static_cast<size_t>(end - begin), [&](size_t k) __attribute__((always_inline)) {
          Numbers numbers;
          read(numbers, in, k, Indices<side>());
          median::compare<Steps::sorting>(numbers);
          write(numbers, out, k, Indices<side>());
        });
  }

  [[gnu::always_inline]] void select(size_t count, Sample* medians) {
    std::array<const Sample*, side * side> in;
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = sorted_[i / side].data() + i % side * static_cast<size_t>(margin_ / radius);
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

  std::ptrdiff_t margin_;  // samples
  std::array<std::vector<Sample>, side> sorted_;
};

// Networks read the picture itself unless colours are weighted by alpha: tiles would cost as much
// as the medians of small windows, and the hardware prefetcher follows whole rows.
template <typename Sample, int radius>
struct NetworkLoop {
  using Medians = NetworkMedians<Sample, radius>;

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         int height, Border border) {
    const auto channels = static_cast<size_t>(source.format.channels);
    const size_t samples = static_cast<size_t>(source.width) * channels;
    const WindowRows<Sample> window_rows(source, height, border);
    Medians medians(channels);
    for (int y = target.rows.begin; y < target.rows.end; ++y) {
      typename Medians::Rows rows;
      for (int i = 0; i < 2 * radius + 1; ++i)
        rows[static_cast<size_t>(i)] = window_rows.row(y - radius + i);
      const auto column_at = [&](std::ptrdiff_t place) {
        return column(rows, window_rows.outside(), border, source, place);
      };
      medians.fill(rows, samples, column_at, reinterpret_cast<Sample*>(target.row(y)));
    }
  }

  // The column at a place outside the rows.
  static typename Medians::Numbers column(const typename Medians::Rows& rows, const Sample* outside,
                                          Border border, const ConstRows& source,
                                          std::ptrdiff_t place) {
    const int channels = source.format.channels;
    const int shifted = static_cast<int>(place) + radius * channels;  // not below 0
    const int channel = shifted % channels;
    const int x = border_position(border, shifted / channels - radius, source.width);
    typename Medians::Numbers numbers;
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = x < 0 ? outside[static_cast<size_t>(channel)] : rows[i][x * channels + channel];
    return numbers;
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

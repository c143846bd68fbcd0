// Medians of windows of any size by histograms of their samples.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "host/loops.hpp"

namespace gpufilter::median {

using std::size_t;

// The samples of a window that moves, each with a weight: counts for each value, and for each 16,
// 256 and 4096 neighbouring values, so that few are added up to find the median.
template <typename Sample>
class SlidingHistogram {
 public:
  SlidingHistogram() : counts_(offset(levels)) {}

  void add(Sample sample, std::uint32_t weight) {
    for (int level = 0; level < levels; ++level)
      counts_[offset(level) + (sample >> shift(level))] += weight;
    total_ += weight;
  }
  void remove(Sample sample, std::uint32_t weight) { add(sample, 0 - weight); }

  [[nodiscard]] std::uint32_t total() const { return total_; }

  // The smallest sample for which it and all smaller ones have half of the total weight or more.
  [[nodiscard]] Sample median() const {
    std::uint32_t left = (total_ + 1) / 2;
    size_t value = 0;
    for (int level = 0; level < levels; ++level) {
      value *= 16;
      while (counts_[offset(level) + value] < left)
        left -= counts_[offset(level) + value++];
    }
    return static_cast<Sample>(value);
  }

 private:
  static constexpr int levels = std::numeric_limits<Sample>::digits / 4;
  static constexpr int shift(int level) { return 4 * (levels - 1 - level); }
  // Of the counts of a level: those before it have 16, 256, ... of them.
  static constexpr size_t offset(int level) {
    size_t at = 0;
    for (int i = 0; i < level; ++i)
      at += size_t{16} << static_cast<unsigned>(4 * i);
    return at;
  }

  std::vector<std::uint32_t> counts_;
  std::uint32_t total_ = 0;
};

using Counts [[gnu::vector_size(16)]] = std::uint8_t;

// 16 running counts of a window: how many samples are at most this large. As numbers with a sign,
// which every instruction set compares; with `wide` up to 32767, otherwise up to 255 by a bias.
template <bool wide>
class RunningCounts {
 public:
  using Number = std::conditional_t<wide, std::int16_t, std::int8_t>;
  static constexpr int bias = wide ? 0 : 128;

  [[gnu::always_inline]] void clear() { numbers_ = Numbers{} - static_cast<Number>(bias); }
  [[gnu::always_inline]] void add(const std::uint8_t* counts) {
    numbers_ += __builtin_convertvector(load<Counts>(counts), Numbers);
  }
  [[gnu::always_inline]] void subtract(const std::uint8_t* counts) {
    numbers_ -= __builtin_convertvector(load<Counts>(counts), Numbers);
  }

  // The first that is above `limit`; one is.
  [[nodiscard, gnu::always_inline]] int first_above(int limit) const {
    const Numbers limits = Numbers{} + static_cast<Number>(limit - bias);
    const auto above = __builtin_convertvector(numbers_ > limits, Bytes);
#ifdef __SSE2__
    return __builtin_ctz(
        static_cast<unsigned>(__builtin_ia32_pmovmskb128(reinterpret_cast<Chars>(above))));
#else
    int i = 0;
    while (above[i] == 0)
      ++i;
    return i;
#endif
  }
  // The count of index i - 1, 0 for i = 0. `room` holds them for a moment.
  using Room = std::array<Number, 17>;
  [[nodiscard, gnu::always_inline]] int below(int i, Room& room) const {
    std::memcpy(room.data() + 1, &numbers_, sizeof numbers_);
    return room[static_cast<size_t>(i)] + bias;
  }
  static constexpr Room empty_room() {
    return {static_cast<Number>(-bias)};
  }

 private:
  using Numbers [[gnu::vector_size(16 * sizeof(Number))]] = Number;
  using Bytes [[gnu::vector_size(16)]] = std::int8_t;
  using Chars [[gnu::vector_size(16)]] = char;

  Numbers numbers_;
};

// Medians of 8-bit samples in constant time for every radius (S. Perreault, P. Hebert: Median
// filtering in constant time, 2007): each column of the window has a histogram that moves down, and
// the window's histogram moves along the columns. Histograms have two levels of 16 running counts:
// of all samples by their upper four bits, and of those with the same upper bits by the lower four.
// Running counts are added and subtracted like plain ones, and need no sum to find the median.
template <bool wide>
class ColumnHistograms {
 public:
  ColumnHistograms(size_t samples, size_t channels, int radius)
      : channels_(channels),
        side_(2 * static_cast<size_t>(radius) + 1),
        upper_(samples * 16),
        lower_(samples * 16 * 16),
        segment_(samples * 16) {}

  void clear() {
    std::fill(upper_.begin(), upper_.end(), std::uint8_t{0});
    std::fill(lower_.begin(), lower_.end(), std::uint8_t{0});
  }

  [[gnu::always_inline]] void add_row(const std::uint8_t* row, size_t samples) {
    for (size_t i = 0; i < samples; ++i) {
      add(upper_.data() + 16 * i, steps_[row[i] >> 4U]);
      add(lower(row[i] >> 4U, i), steps_[row[i] & 15U]);
    }
  }
  [[gnu::always_inline]] void move_row(const std::uint8_t* from, const std::uint8_t* to,
                                       size_t samples) {
    for (size_t i = 0; i < samples; ++i) {
      std::uint8_t* upper = upper_.data() + 16 * i;
      store(upper, load<Counts>(upper) + load<Counts>(steps_[to[i] >> 4U].data()) -
                       load<Counts>(steps_[from[i] >> 4U].data()));
      add(lower(to[i] >> 4U, i), steps_[to[i] & 15U]);
      std::uint8_t* old = lower(from[i] >> 4U, i);
      store(old, load<Counts>(old) - load<Counts>(steps_[from[i] & 15U].data()));
    }
  }

  // The medians of `samples` samples; the first window begins with the first column.
  [[gnu::always_inline]] void fill(size_t samples, std::uint8_t* out) {
    std::array<Window, 4> windows;
    for (size_t c = 0; c < channels_; ++c) {
      windows[c].upper.clear();
      for (size_t i = 0; i + 1 < side_; ++i)
        windows[c].upper.add(upper_.data() + 16 * (c + i * channels_));
    }
    typename RunningCounts<wide>::Room room = RunningCounts<wide>::empty_room();
    for (size_t x = 0, i = 0; i < samples; ++x) {
      for (size_t c = 0; c < channels_; ++c, ++i)
        out[i] = median(windows[c], x, i, room);
    }
  }

 private:
  struct Window {
    RunningCounts<wide> upper;  // without the last column
    std::array<RunningCounts<wide>, 16> lower;
    // The pixel after the one for which `lower` was computed last.
    std::array<size_t, 16> next{};
  };

  [[gnu::always_inline]] std::uint8_t median(Window& window, size_t x, size_t sample,
                                             typename RunningCounts<wide>::Room& room) {
    const int half = static_cast<int>(side_ * side_ / 2);
    const std::uint8_t* first = upper_.data() + 16 * sample;
    window.upper.add(first + 16 * (side_ - 1) * channels_);
    const int upper = window.upper.first_above(half);
    const int below = window.upper.below(upper, room);
    window.upper.subtract(first);
    const RunningCounts<wide>& lower = updated(window, static_cast<size_t>(upper), x, sample);
    return static_cast<std::uint8_t>(16 * upper + lower.first_above(half - below));
  }

  // The counts of the lower bits in the window of pixel x: those of the pixel for which they were
  // needed last, moved on, or new ones if that is shorter.
  [[gnu::always_inline]] const RunningCounts<wide>& updated(Window& window, size_t upper, size_t x,
                                                            size_t sample) {
    RunningCounts<wide> counts = window.lower[upper];
    const std::uint8_t* column = lower(upper, sample);
    const size_t step = 16 * channels_;
    const size_t next = window.next[upper];
    const size_t moves = x + 1 - next;
    if (next == 0 || moves >= side_) {
      counts.clear();
      for (size_t i = 0; i < side_; ++i)
        counts.add(column + i * step);
    } else {
      column -= moves * step;
      for (size_t i = 0; i < moves; ++i) {
        counts.subtract(column + i * step);
        counts.add(column + (i + side_) * step);
      }
    }
    window.lower[upper] = counts;
    window.next[upper] = x + 1;
    return window.lower[upper];
  }

  [[gnu::always_inline]] std::uint8_t* lower(size_t upper, size_t sample) {
    return lower_.data() + upper * segment_ + 16 * sample;
  }
  [[gnu::always_inline]] static void add(std::uint8_t* counts,
                                         const std::array<std::uint8_t, 16>& more) {
    store(counts, load<Counts>(counts) + load<Counts>(more.data()));
  }

  // Running counts of one sample.
  static constexpr std::array<std::array<std::uint8_t, 16>, 16> steps_ = [] {
    std::array<std::array<std::uint8_t, 16>, 16> all{};
    for (size_t value = 0; value < 16; ++value) {
      for (size_t i = value; i < 16; ++i)
        all[value][i] = 1;
    }
    return all;
  }();

  size_t channels_;
  size_t side_;
  std::vector<std::uint8_t> upper_;
  std::vector<std::uint8_t> lower_;  // by the upper bits, then by columns
  size_t segment_;
};

}  // namespace gpufilter::median

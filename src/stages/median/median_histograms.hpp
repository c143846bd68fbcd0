// Medians of windows of any size by histograms of their samples.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
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

  // What was added is taken back by the negative weight.
  void add(Sample sample, std::uint32_t weight) {
    for (int level = 0; level < levels; ++level)
      counts_[offset(level) + (sample >> shift(level))] += weight;
    total_ += weight;
  }

  // The smallest sample for which it and all smaller ones have half of the total weight or more.
  // There has to be some weight.
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
  // Where the counts of a level begin: the levels before it have 16, 256, ... of them.
  static constexpr size_t offset(int level) {
    size_t at = 0;
    for (int i = 0; i < level; ++i)
      at += size_t{16} << static_cast<unsigned>(4 * i);
    return at;
  }

  std::vector<std::uint32_t> counts_;
  std::uint32_t total_ = 0;
};

// 16 running counts: how many samples are at most this large. Those of a column fit bytes.
using Counts [[gnu::vector_size(16)]] = std::uint8_t;

[[gnu::always_inline]] inline Counts load_counts(const std::uint8_t* from) {
  return load<Counts>(from);
}

// The first of 16 conditions that holds; one does. As vectors compare: all bits of a byte are set.
[[gnu::always_inline]] inline int first_true(const Counts& conditions) {
#ifdef __SSE2__
  using Chars [[gnu::vector_size(16)]] = char;
  return __builtin_ctz(
      static_cast<unsigned>(__builtin_ia32_pmovmskb128(reinterpret_cast<Chars>(conditions))));
#else
  int i = 0;
  while (conditions[i] == 0)
    ++i;
  return i;
#endif
}

// The running counts of a window, of up to 32767 samples.
class WindowCounts {
 public:
  using Number = std::int16_t;

  void clear() { numbers_ = Numbers{}; }
  [[gnu::always_inline]] void add(const std::uint8_t* counts) {
    numbers_ += __builtin_convertvector(load_counts(counts), Numbers);
  }
  [[gnu::always_inline]] void subtract(const std::uint8_t* counts) {
    numbers_ -= __builtin_convertvector(load_counts(counts), Numbers);
  }
  // The first that is above `limit`; one is.
  [[nodiscard, gnu::always_inline]] int first_above(int limit) const {
    return first_true(
        __builtin_convertvector(numbers_ > Numbers{} + static_cast<Number>(limit), Counts));
  }
  [[gnu::always_inline]] void write(Number* to) const {
    std::memcpy(to, &numbers_, sizeof numbers_);
  }

 private:
  using Numbers [[gnu::vector_size(16 * sizeof(Number))]] = Number;
  Numbers numbers_;
};

// Medians of 8-bit samples in a time that hardly depends on the radius (S. Perreault, P. Hebert:
// Median filtering in constant time, 2007): each column of the window has a histogram, which moves
// down. Histograms have two levels of 16 running counts: of all samples by their upper four bits,
// and of those with the same upper bits by the lower four. Running counts are added and subtracted
// like plain ones, and need no sum to find the median. The counts of the window are those of its
// columns: for the upper bits they move along the columns; for the lower bits only those that are
// needed are added up, or moved if that is shorter.
class ColumnHistograms {
 public:
  ColumnHistograms(size_t columns, size_t channels, int radius)
      : columns_(columns),
        channels_(channels),
        side_(2 * static_cast<size_t>(radius) + 1),
        upper_(columns * channels * 16),
        lower_(columns * channels * 256),
        segments_(columns),
        limits_(columns) {}

  void clear() {
    std::fill(upper_.begin(), upper_.end(), std::uint8_t{0});
    std::fill(lower_.begin(), lower_.end(), std::uint8_t{0});
  }

  [[gnu::always_inline]] void add_row(const std::uint8_t* row, size_t columns) {
    for (size_t c = 0; c < channels_; ++c) {
      for (size_t i = 0; i < columns; ++i) {
        const std::uint8_t sample = row[i * channels_ + c];
        add(upper(c, i), steps_[sample >> 4U]);
        add(lower(c, sample >> 4U, i), steps_[sample & 15U]);
      }
    }
  }
  [[gnu::always_inline]] void move_row(const std::uint8_t* from, const std::uint8_t* to,
                                       size_t columns) {
    for (size_t c = 0; c < channels_; ++c) {
      for (size_t i = 0; i < columns; ++i) {
        const std::uint8_t old = from[i * channels_ + c];
        const std::uint8_t sample = to[i * channels_ + c];
        store(upper(c, i), load_counts(upper(c, i)) + load_counts(steps_[sample >> 4U].data()) -
                               load_counts(steps_[old >> 4U].data()));
        add(lower(c, sample >> 4U, i), steps_[sample & 15U]);
        std::uint8_t* at = lower(c, old >> 4U, i);
        store(at, load_counts(at) - load_counts(steps_[old & 15U].data()));
      }
    }
  }

  // The medians of `pixels` pixels; the first window begins with the first column.
  [[gnu::always_inline]] void fill(size_t pixels, std::uint8_t* out) {
    for (size_t c = 0; c < channels_; ++c) {
      find_segments(c, pixels);
      move_along(c, pixels, out + c);
    }
  }

 private:
  // The upper bits of medians, and which of the samples with the same upper bits they are.
  [[gnu::always_inline]] void find_segments(size_t channel, size_t pixels) {
    const int middle = static_cast<int>(side_ * side_ / 2);
    WindowCounts window;
    window.clear();
    for (size_t i = 0; i + 1 < side_; ++i)
      window.add(upper(channel, i));
    std::array<WindowCounts::Number, 17> counts{};
    for (size_t x = 0; x < pixels; ++x) {
      window.add(upper(channel, x + side_ - 1));
      const int segment = window.first_above(middle);
      window.write(counts.data() + 1);
      segments_[x] = static_cast<std::uint8_t>(segment);
      limits_[x] = static_cast<std::uint16_t>(middle - counts[static_cast<size_t>(segment)]);
      window.subtract(upper(channel, x));
    }
  }

  [[gnu::always_inline]] void move_along(size_t channel, size_t pixels, std::uint8_t* out) {
    std::array<WindowCounts, 16> windows;
    std::array<size_t, 16> next{};  // the pixel after that of the window; 0: none
    for (size_t x = 0; x < pixels; ++x) {
      const size_t segment = segments_[x];
      WindowCounts window = windows[segment];
      const size_t moves = x + 1 - next[segment];
      if (next[segment] == 0 || 2 * moves >= side_) {
        window.clear();
        for (size_t i = 0; i < side_; ++i)
          window.add(lower(channel, segment, x + i));
      } else {
        for (size_t i = x - moves; i < x; ++i) {
          window.subtract(lower(channel, segment, i));
          window.add(lower(channel, segment, i + side_));
        }
      }
      windows[segment] = window;
      next[segment] = x + 1;
      out[x * channels_] =
          static_cast<std::uint8_t>(16 * segments_[x] + window.first_above(limits_[x]));
    }
  }

  [[gnu::always_inline]] std::uint8_t* upper(size_t channel, size_t column) {
    return upper_.data() + (channel * columns_ + column) * 16;
  }
  [[gnu::always_inline]] std::uint8_t* lower(size_t channel, size_t segment, size_t column) {
    return lower_.data() + ((channel * 16 + segment) * columns_ + column) * 16;
  }
  [[gnu::always_inline]] static void add(std::uint8_t* counts,
                                         const std::array<std::uint8_t, 16>& more) {
    store(counts, load_counts(counts) + load_counts(more.data()));
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

  size_t columns_;  // of the tile with its windows
  size_t channels_;
  size_t side_;
  std::vector<std::uint8_t> upper_;  // by channels, then by columns
  std::vector<std::uint8_t> lower_;  // by channels, the upper bits, and columns
  std::vector<std::uint8_t> segments_;
  std::vector<std::uint16_t> limits_;
};

}  // namespace gpufilter::median

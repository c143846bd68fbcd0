#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "host/vectors.hpp"
#include "stage/window_rows.hpp"
#include "stages/median/median.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// The samples of a window that moves, each with a weight: counts for each value, and for each 16,
// 256 and 4096 neighbouring values, so that few are added up to find the median.
template <typename Sample>
class SlidingHistogram {
 public:
  SlidingHistogram() : counts_(offset(levels)) {}

  // A negative weight removes a sample.
  void add(Sample sample, std::uint32_t weight) {
    for (int level = 0; level < levels; ++level)
      counts_[offset(level) + (sample >> shift(level))] += weight;
    total_ += weight;
  }

  // The smallest sample such that the samples up to it have at least half of the total weight,
  // which is above 0.
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
  // Offset of a level's counts: the levels before it have 16, 256, ... counts.
  static constexpr size_t offset(int level) {
    size_t at = 0;
    for (int i = 0; i < level; ++i)
      at += size_t{16} << static_cast<unsigned>(4 * i);
    return at;
  }

  std::vector<std::uint32_t> counts_;
  std::uint32_t total_ = 0;
};

// 16 cumulative counts: how many samples are at most this large. A column's fit bytes.
using Counts = VectorOf<std::uint8_t, 16>::type;

[[gnu::always_inline]] inline Counts load_counts(const std::uint8_t* from) {
  return load<Counts>(from);
}

// The first of 16 conditions that holds; one does. As vectors compare: all bits of a byte are set.
[[gnu::always_inline]] inline int first_true(const Counts& conditions) {
#ifdef __SSE2__
  return __builtin_ctz(static_cast<unsigned>(__builtin_ia32_pmovmskb128(as<char>(conditions))));
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
  using Numbers = VectorOf<Number, 16 * sizeof(Number)>::type;
  Numbers numbers_;
};

// Medians of 8-bit samples in a time that hardly depends on the radius (S. Perreault, P. Hebert:
// Median filtering in constant time, 2007): each column of the window has a histogram, which moves
// down. Histograms have two levels of 16 cumulative counts: of all samples by their upper four
// bits, and of those with equal upper bits by the lower four. Cumulative counts are added and
// subtracted like plain ones, and need no sum to find the median. The counts of the window are
// those of its columns: for the upper bits they move along the columns; for the lower bits only
// those that are needed are added up, or moved if that is shorter.
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

// Columns whose windows, or histograms, stay in the second-level cache.
constexpr size_t tile_samples = 4096;

// Fills a row of medians from the window's rows, after begin() for a new tile.
class ColumnMedians {
 public:
  ColumnMedians(int radius, size_t channels, size_t samples)
      : radius_(radius), histograms_(samples / channels, channels, radius) {}
  void begin() { is_first_ = true; }

  [[gnu::always_inline]] void fill(const WindowRows<std::uint8_t>& rows, int y, size_t channels,
                                   size_t samples, std::uint8_t* medians) {
    const size_t columns = rows.samples() / channels;
    if (is_first_) {
      histograms_.clear();
      for (int row = y - radius_; row <= y + radius_; ++row)
        histograms_.add_row(rows.row(row), columns);
    } else {
      histograms_.move_row(rows.row(y - radius_ - 1), rows.row(y + radius_), columns);
    }
    is_first_ = false;
    histograms_.fill(samples / channels, medians);
  }

 private:
  int radius_;
  bool is_first_ = true;
  ColumnHistograms histograms_;
};

// For windows whose colours are weighted by alpha.
template <typename Sample>
class WeighedMedians {
 public:
  explicit WeighedMedians(int radius) : radius_(radius) {}

  // Replaces the colours where alpha differs within a window, and leaves those whose windows are
  // opaque or invisible throughout.
  void weigh(const WindowRows<Sample>& rows, int y, size_t channels, size_t samples,
             Sample* medians) {
    window_.clear();
    for (int row = y - radius_; row <= y + radius_; ++row)
      window_.push_back(rows.row(row));
    mark_mixed_columns(rows.samples() / channels, channels);
    const auto width = static_cast<size_t>(2 * radius_ + 1);
    const size_t pixels = samples / channels;
    const auto is_mixed = [&](size_t x) {
      const size_t translucent = translucent_[x + width] - translucent_[x];
      const size_t visible = visible_[x + width] - visible_[x];
      return translucent > 0 && visible > 0;
    };
    for (size_t x = 0; x < pixels; ++x) {
      if (!is_mixed(x)) continue;
      size_t end = x + 1;
      while (end < pixels && is_mixed(end))
        ++end;
      for (size_t c = 0; c + 1 < channels; ++c) {
        const size_t to_alpha = channels - 1 - c;
        fill_channel(channels, {x, end}, c, to_alpha, medians);
      }
      x = end;
    }
  }

 private:
  struct Pixels {
    size_t begin;
    size_t end;
  };

  // Counts, for each column, those before it that have a translucent and a visible pixel.
  void mark_mixed_columns(size_t columns, size_t channels) {
    constexpr Sample max = std::numeric_limits<Sample>::max();
    smallest_.assign(columns, max);
    largest_.assign(columns, 0);
    for (const Sample* row : window_) {
      const Sample* alpha = row + channels - 1;
      for (size_t i = 0; i < columns; ++i) {
        smallest_[i] = std::min(smallest_[i], alpha[i * channels]);
        largest_[i] = std::max(largest_[i], alpha[i * channels]);
      }
    }
    translucent_.assign(1, 0);
    visible_.assign(1, 0);
    for (size_t i = 0; i < columns; ++i) {
      translucent_.push_back(translucent_[i] + (smallest_[i] < max ? 1 : 0));
      visible_.push_back(visible_[i] + (largest_[i] > 0 ? 1 : 0));
    }
  }

  // Alpha is `to_alpha` samples after the channel.
  void fill_channel(size_t channels, Pixels pixels, size_t channel, size_t to_alpha,
                    Sample* medians) {
    const auto change = [&](size_t column, bool adds) {
      for (const Sample* row : window_) {
        const Sample* sample = row + column * channels + channel;
        const std::uint32_t weight = sample[to_alpha];
        histogram_.add(*sample, adds ? weight : 0 - weight);
      }
    };
    const size_t width = window_.size();
    for (size_t i = 0; i + 1 < width; ++i)
      change(pixels.begin + i, true);
    for (size_t x = pixels.begin; x < pixels.end; ++x) {
      change(x + width - 1, true);
      medians[x * channels + channel] = histogram_.median();
      change(x, false);
    }
    for (size_t i = 0; i + 1 < width; ++i)
      change(pixels.end + i, false);
  }

  int radius_;
  SlidingHistogram<Sample> histogram_;
  std::vector<const Sample*> window_;  // its rows
  // Per column of a tile, over a window's rows:
  std::vector<Sample> smallest_;  // alpha
  std::vector<Sample> largest_;
  std::vector<size_t> translucent_;
  std::vector<size_t> visible_;
};

template <typename Sample>
struct Job {
  ConstRows source;
  MutableRows target;
  int height = 0;
  const MedianParameters* parameters = nullptr;

  [[nodiscard]] bool weighted() const {
    return parameters->alpha == AlphaMode::weighted && source.format.has_alpha();
  }
};

struct HistogramLoop {
  using Sample = std::uint8_t;

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Job<Sample>* job) {
    const int radius = job->parameters->radius;
    const auto channels = static_cast<size_t>(job->source.format.channels);
    const int columns = std::min(static_cast<int>(tile_samples / channels), job->source.width);
    WindowRows<Sample> rows(job->source, {.height = job->height,
                                          .border = job->parameters->border,
                                          .radius = radius,
                                          .rows = 2 * radius + 2,
                                          .columns = columns});
    ColumnMedians medians(radius, channels, static_cast<size_t>(columns + 2 * radius) * channels);
    rows.for_rows(
        job->target,
        radius, [&](int y, size_t samples, Sample* out) __attribute__((always_inline)) {
          if (y == job->target.rows.begin) medians.begin();
          medians.fill(rows, y, channels, samples, out);
        });
  }
};

// Weighs the colours of plain medians by alpha.
template <typename Sample>
struct WeighingLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Job<Sample>* job) {
    const int radius = job->parameters->radius;
    const auto channels = static_cast<size_t>(job->source.format.channels);
    WindowRows<Sample> rows(job->source, {.height = job->height,
                                          .border = job->parameters->border,
                                          .radius = radius,
                                          .rows = 2 * radius + 1,
                                          .columns = static_cast<int>(tile_samples / channels),
                                          .weighted = true});
    WeighedMedians<Sample> medians(radius);
    rows.for_rows(
        job->target,
        radius, [&](int y, size_t samples, Sample* out) __attribute__((always_inline)) {
          if (!rows.is_opaque(y, radius)) medians.weigh(rows, y, channels, samples, out);
        });
  }
};

template <typename Sample>
void fill_plain(const Job<Sample>& job) {
  if (job.parameters->radius == 1)
    return median_nine_rows(job.source, job.target, job.height, job.parameters->border);
  if (job.parameters->radius <= max_network_radius) {
    return median_network_rows(job.source, job.target, job.height, job.parameters->border,
                               job.parameters->radius);
  }
  if (sizeof(Sample) > 1 || job.parameters->radius <= max_tile_radius_of_bytes) {
    return median_tile_rows(job.source, job.target, job.height, job.parameters->border,
                            job.parameters->radius);
  }
  if constexpr (sizeof(Sample) == 1) run_loop<HistogramLoop>(&job);
}

template <typename Sample>
void fill(const Job<Sample>& job) {
  fill_plain(job);
  if (job.weighted()) run_loop<WeighingLoop<Sample>>(&job);
}

}  // namespace

void median_rows(const ConstRows& source, const MutableRows& target, int height,
                 const MedianParameters& parameters) {
  if (source.format.depth == 8) {
    fill(Job<std::uint8_t>{source, target, height, &parameters});
  } else {
    fill(Job<std::uint16_t>{source, target, height, &parameters});
  }
}

}  // namespace gpufilter

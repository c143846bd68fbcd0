#include "stages/median/median_rows.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "host/loops.hpp"
#include "stage/window_rows.hpp"
#include "stages/median/median_histograms.hpp"

namespace gpufilter {
namespace {

using std::size_t;

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
  median::ColumnHistograms histograms_;
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
  median::SlidingHistogram<Sample> histogram_;
  std::vector<const Sample*> window_;  // its rows
  // What a window's rows hold in each column of a tile:
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

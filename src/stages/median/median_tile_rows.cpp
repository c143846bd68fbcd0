// Functions that take vectors are inlined into those that are compiled for them.
#pragma GCC diagnostic ignored "-Wpsabi"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <vector>

#include "host/loops.hpp"
#include "stage/window_rows.hpp"
#include "stages/median/median.hpp"
#include "stages/median/median_plan.hpp"
#include "stages/median/median_steps.hpp"

namespace gpufilter {
namespace {

using median::Plan;
using std::size_t;

// Rows in lanes: corresponding pixels of all tiles are adjacent. So a vector has one pixel's
// samples of neighbouring tiles, and the next pixel's follow `pitch` samples later.
template <typename Sample>
struct Lanes {
  size_t tile = 0;  // pixels
  size_t channels = 0;
  size_t pitch = 0;

  [[nodiscard]] size_t size() const { return tile * pitch; }
  // Offset of pixel x of the first tile; the corresponding pixels of the next tiles follow.
  [[nodiscard]] size_t at(size_t x) const { return x % tile * pitch + x / tile * channels; }

  // Samples after the last pixel of `row` may be read, and some in `to` be overwritten.
  [[gnu::always_inline]] void spread(const Sample* row, size_t pixels, Sample* to) const {
    with_channels([&](auto fixed) __attribute__((always_inline)) {
      constexpr size_t step = decltype(fixed)::value;
      for (size_t x = 0; x < pixels; x += tile) {
        for (size_t i = 0; i < tile; ++i)
          std::memcpy(to + i * pitch, row + (x + i) * step, step * sizeof(Sample));
        to += step;
      }
    });
  }
  [[gnu::always_inline]] void gather(const Sample* from, size_t pixels, Sample* row) const {
    with_channels([&](auto fixed) __attribute__((always_inline)) {
      constexpr size_t step = decltype(fixed)::value;
      for (size_t x = 0; x < pixels; x += tile) {
        const size_t end = std::min(tile, pixels - x);
        for (size_t i = 0; i < end; ++i)
          std::memcpy(row + (x + i) * step, from + i * pitch, step * sizeof(Sample));
        from += step;
      }
    });
  }

 private:
  template <typename Body>
  [[gnu::always_inline]] void with_channels(const Body& body) const {
    switch (channels) {
      case 1:
        return body(std::integral_constant<size_t, 1>());
      case 2:
        return body(std::integral_constant<size_t, 2>());
      case 3:
        return body(std::integral_constant<size_t, 3>());
      default:
        return body(std::integral_constant<size_t, 4>());
    }
  }
};

template <typename Sample>
class TileMedians {
 public:
  TileMedians(const ConstRows& source, int height, Border border, int radius, const Plan& plan)
      : plan_(plan),
        tile_(static_cast<size_t>(plan.width)),
        height_(static_cast<size_t>(plan.height)),
        margin_(2 * static_cast<size_t>(radius)),
        channels_(static_cast<size_t>(source.format.channels)),
        radius_(radius),
        columns_(std::min(lanes_at_once / channels_ * tile_, static_cast<size_t>(source.width))),
        window_(source, {.height = height,
                         .border = border,
                         .radius = radius,
                         .rows = 1,
                         .columns = static_cast<int>(columns_)}),
        source_{tile_, channels_, pitch(columns_ + margin_)},
        result_{tile_, channels_, pitch(columns_)},
        samples_((margin_ + height_) * source_.size()),
        medians_(height_ * result_.size()),
        places_(plan.places) {
    for (size_t y = 0; y < margin_ + height_; ++y)
      rows_.push_back(samples_.data() + y * source_.size());
    for (size_t x = 0; x < margin_ + tile_; ++x)
      column_at_.push_back(source_.at(x));
  }

  template <InstructionSet set>
  [[gnu::always_inline]] void fill(const MutableRows& target) {
    window_.for_tiles(
        target.rows.begin - radius_, [&](const Columns& part) __attribute__((always_inline)) {
          const auto columns = static_cast<size_t>(part.count());
          for (int y = target.rows.begin; y < target.rows.end; y += plan_.height) {
            const RowRange rows{y, std::min(y + plan_.height, target.rows.end)};
            read(rows, y == target.rows.begin);
            find_medians<set>((columns + tile_ - 1) / tile_ * channels_);
            const Sample* medians = medians_.data();
            for (int row = rows.begin; row < rows.end; ++row) {
              result_.gather(medians, columns, window_.target_at(target, row));
              medians += result_.size();
            }
          }
        });
  }

 private:
  // Tiles that are handled together. The rows of their windows stay in the second-level cache.
  static constexpr size_t lanes_at_once = 512 / sizeof(Sample);
  struct alignas(64) Place {
    std::array<std::uint8_t, 64> bytes;
  };

  // Vectors begin before the last sample.
  static size_t pitch_for(size_t lanes) {
    constexpr size_t vector = 64 / sizeof(Sample);
    return (lanes + vector - 1) / vector * vector;
  }
  [[nodiscard]] size_t pitch(size_t pixels) const {
    return pitch_for(((pixels + tile_ - 1) / tile_ + 1) * channels_) + pitch_for(1);
  }

  // The rows of the windows around these. Those that are not there keep what they had.
  [[gnu::always_inline]] void read(const RowRange& rows, bool is_first) {
    const auto step = static_cast<std::ptrdiff_t>(height_);
    if (!is_first) std::rotate(rows_.begin(), rows_.begin() + step, rows_.end());
    size_t ready = is_first ? 0 : margin_;
    for (int y = is_first ? rows.begin - radius_ : rows.begin + radius_; y < rows.end + radius_;
         ++y) {
      window_.reach(y);
      source_.spread(window_.row(y), window_.samples() / channels_, rows_[ready++]);
    }
  }

  template <InstructionSet set>
  [[gnu::always_inline]] void find_medians(size_t lanes) {
    using Number = Vector<Sample, set>;
    median::Steps<Number> steps(reinterpret_cast<Number*>(places_.data()));
    for (size_t lane = 0; lane < lanes; lane += sizeof(Number) / sizeof(Sample)) {
      const auto sample_at = [&](size_t x, size_t y) __attribute__((always_inline)) {
        return rows_[y] + column_at_[x] + lane;
      };
      const auto median_at = [&](size_t x, size_t y) __attribute__((always_inline)) {
        return medians_.data() + y * result_.size() + x * result_.pitch + lane;
      };
      steps.take(plan_, sample_at, median_at);
    }
  }

  const Plan& plan_;
  size_t tile_;    // columns
  size_t height_;  // rows
  size_t margin_;  // columns, and rows, that windows have more than tiles
  size_t channels_;
  int radius_;
  size_t columns_;  // at once
  WindowRows<Sample> window_;
  Lanes<Sample> source_;
  Lanes<Sample> result_;
  std::vector<Sample> samples_;
  std::vector<Sample> medians_;
  std::vector<Place> places_;
  std::vector<Sample*> rows_;  // of the samples
  std::vector<size_t> column_at_;
};

template <typename Sample>
struct TileLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         int height, Border border, int radius, const Plan* plan) {
    TileMedians<Sample>(source, height, border, radius, *plan).template fill<set>(target);
  }
};

// The plan for the tiles that measured fastest, but no higher than `rows` if lower tiles suffice.
const Plan& plan_for(int radius, int rows) {
  const int width = radius < 12 ? 8 : 16;
  const int suiting = radius < 6 ? 4 : width;
  int height = 4;
  while (height < std::min(suiting, rows))
    height *= 2;
  struct Made {
    std::once_flag flag;
    Plan plan;
  };
  static std::array<std::array<Made, 3>, MedianParameters::max_radius + 1> all;
  Made& made = all.at(static_cast<size_t>(radius)).at(height == 4 ? 0 : height == 8 ? 1 : 2);
  std::call_once(made.flag, [&] { made.plan = median::make_plan(radius, width, height); });
  return made.plan;
}

}  // namespace

void median_tile_rows(const ConstRows& source, const MutableRows& target, int height, Border border,
                      int radius) {
  const Plan& plan = plan_for(radius, target.rows.count());
  run_loop_of_depth<TileLoop>(source.format.depth, source, target, height, border, radius, &plan);
}

}  // namespace gpufilter

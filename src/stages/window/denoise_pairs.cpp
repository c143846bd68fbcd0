// By the instruction that multiplies pairs of 16-bit numbers and adds the products of each pair
// (pmaddwd).
#include "stages/window/denoise_rows.hpp"

#ifdef __x86_64__
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <immintrin.h>

#include "host/loops.hpp"
#include "host/pixels.hpp"
#include "stage/window_rows.hpp"

// GCC takes what its own intrinsics leave undefined for a mistake.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace gpufilter {
namespace {

using std::size_t;

// Columns whose windows stay in the first-level cache.
constexpr int tile_columns = 256;
constexpr size_t block = 16;  // pixels: a whole number of vectors
// Colours are multiplied by 2^6, so that a difference times a number of 14 bits has its high half
// in a register of its own.
constexpr int color_shift = 6;

// Two neighbours side by side: where the first one's colours are in the row of a window, and the
// weights of both by distance, the second of which may be 0.
struct PairTap {
  std::int32_t row;
  std::int32_t column;
  std::uint32_t weights;
};

// A row of the result and what it is made of. Whole blocks are read and written.
struct PairRow {
  const PairTap* taps;
  size_t tap_count;
  const std::uint32_t* const* window;  // the rows' first colour, for pixel 0
  const std::uint32_t* centre;
  const std::uint32_t* centre_alpha;
  size_t plane;  // pairs from one channel to the next
  size_t pixels;
  std::int32_t limit;
  std::int32_t inverse;
  std::uint32_t* rgba;  // grey is the first channel
};
using FillRow = void (*)(const PairRow&);

#define PAIR_LOOPS "stages/window/denoise_pairs.inc"
#include "stage/pair_sets.inc"

template <size_t colors>
FillRow row_filler(InstructionSet set, bool by_alpha) {
  static const bool has_vnni = __builtin_cpu_supports("avx512vnni") != 0;
  const size_t which = by_alpha ? 1 : 0;
  if (set == InstructionSet::avx2) return avx2::fill_rows<colors>[which];
  return has_vnni ? vnni::fill_rows<colors>[which] : avx512::fill_rows<colors>[which];
}

// The rows of a window, each channel by itself, each sample beside its right neighbour.
class PairWindow {
 public:
  PairWindow(int radius, size_t columns, size_t colors, bool has_alpha)
      : rows_(static_cast<size_t>(2 * radius + 1)),
        colors_(colors),
        channels_(colors + (has_alpha ? 1 : 0)),
        plane_((columns + static_cast<size_t>(2 * radius)) / block * block + 2 * block),
        pairs_(rows_ * channels_ * plane_) {}

  // Takes row `y`, any number, in place of row y - 2 radius - 1. One more pixel is read.
  [[gnu::always_inline]] void add(int y, const std::uint32_t* rgba, size_t pixels) {
    for (size_t c = 0; c < channels_; ++c) {
      std::uint32_t* out = pairs_.data() + (slot_of(y) * channels_ + c) * plane_;
      const size_t place = 8 * (c < colors_ ? c : 3);
      const size_t shift = c < colors_ ? color_shift : 0;
      for (size_t i = 0; i < pixels; ++i)
        out[i] = ((rgba[i] >> place & 0xffU) | (rgba[i + 1] >> place & 0xffU) << 16U) << shift;
    }
  }
  // Of the first colour; the others follow, and alpha.
  [[nodiscard]] const std::uint32_t* row(int y) const {
    return pairs_.data() + slot_of(y) * channels_ * plane_;
  }
  [[nodiscard]] size_t plane() const { return plane_; }

 private:
  [[nodiscard]] size_t slot_of(int y) const { return slot_of_row(y, rows_); }

  size_t rows_;
  size_t colors_;
  size_t channels_;
  size_t plane_;
  std::vector<std::uint32_t> pairs_;
};

std::vector<PairTap> pairs_of(const std::vector<DenoiseTap>& taps, int radius) {
  std::vector<PairTap> pairs;
  for (size_t t = 0; t < taps.size(); ++t) {
    const DenoiseTap& tap = taps[t];
    PairTap pair{tap.y + radius, tap.x, static_cast<std::uint32_t>(tap.weight)};
    if (t + 1 < taps.size() && taps[t + 1].y == tap.y) {
      pair.weights |= static_cast<std::uint32_t>(taps[t + 1].weight) << 16U;
      ++t;
    }
    pairs.push_back(pair);
  }
  return pairs;
}

struct Job {
  ConstRows source;
  MutableRows target;
  int height = 0;
  const DenoiseParameters* parameters = nullptr;
  const DenoiseNumbers* numbers = nullptr;
};

template <size_t colors>
struct PairLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Job* job) {
    const PixelFormat& format = job->source.format;
    const int radius = job->parameters->radius;
    const auto channels = static_cast<size_t>(format.channels);
    const int columns = std::min(tile_columns, job->source.width);
    const bool weighted = format.has_alpha() && job->parameters->alpha == AlphaMode::weighted;
    WindowRows<std::uint8_t> source(job->source, {.height = job->height,
                                                  .border = job->parameters->border,
                                                  .radius = radius,
                                                  .rows = 2 * radius + 1,
                                                  .columns = columns,
                                                  .weighted = weighted});
    PairWindow window(radius, static_cast<size_t>(columns), colors, format.has_alpha());
    std::vector<std::uint32_t> rgba(window.plane());
    const RowRange target = job->target.rows;
    const std::vector<PairTap> taps = pairs_of(job->numbers->taps, radius);
    std::array<const std::uint32_t*, 2 * DenoiseParameters::max_radius + 1> rows{};
    source.for_tiles(
        target.begin - radius, [&](const Columns& tile) __attribute__((always_inline)) {
          const auto count = static_cast<size_t>(tile.count());
          for (int y = target.begin - radius; y < target.end + radius; ++y) {
            source.reach(y);
            const size_t pixels = count + static_cast<size_t>(2 * radius);
            to_rgba<set>(source.row(y), channels, pixels, bytes_of(rgba.data()));
            window.add(y, rgba.data(), pixels);
            const int middle = y - radius;
            if (middle < target.begin) continue;
            for (int i = 0; i <= 2 * radius; ++i)
              rows[static_cast<size_t>(i)] = window.row(middle - radius + i) + radius;
            const std::uint32_t* centre = rows[static_cast<size_t>(radius)];
            row_filler<colors>(set, weighted && !source.is_opaque(middle, radius))(
                {.taps = taps.data(),
                 .tap_count = taps.size(),
                 .window = rows.data(),
                 .centre = centre,
                 .centre_alpha = format.has_alpha() ? centre + colors * window.plane() : centre,
                 .plane = window.plane(),
                 .pixels = count,
                 .limit = job->numbers->limit,
                 .inverse = job->numbers->inverse,
                 .rgba = rgba.data()});
            put<set>(rgba.data(), count, channels, source.target_at(job->target, middle));
          }
        });
  }

  static std::uint8_t* bytes_of(std::uint32_t* rgba) {
    return reinterpret_cast<std::uint8_t*>(rgba);
  }

  template <InstructionSet set>
  [[gnu::always_inline]] static void put(std::uint32_t* rgba, size_t count, size_t channels,
                                         std::uint8_t* out) {
    if constexpr (colors == 3) return from_rgba<set>(bytes_of(rgba), count, channels, out);
    for (size_t i = 0; i < count; ++i) {
      if (channels == 1) {
        out[i] = static_cast<std::uint8_t>(rgba[i]);
      } else {
        out[2 * i] = static_cast<std::uint8_t>(rgba[i]);
        out[2 * i + 1] = static_cast<std::uint8_t>(rgba[i] >> 24U);
      }
    }
  }
};

}  // namespace

void denoise_pairs(const ConstRows& source, const MutableRows& target, int height,
                   const DenoiseParameters& parameters, const DenoiseNumbers& numbers) {
  const Job job{source, target, height, &parameters, &numbers};
  if (source.format.channels < 3) {
    run_loop<PairLoop<1>>(&job);
  } else {
    run_loop<PairLoop<3>>(&job);
  }
}

}  // namespace gpufilter
#endif

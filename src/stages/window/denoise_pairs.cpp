// Denoising of 8-bit pictures by the instruction that multiplies pairs of 16-bit numbers and adds
// the products of each pair (pmaddwd).
#include <algorithm>
#include <array>
#include <vector>

#include "host/pixels.hpp"
#include "host/vectors.hpp"
#include "stage/window_rows.hpp"
#include "stages/window/denoise_rows.hpp"

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

// The result of as many pixels as a vector has pairs.
template <InstructionSet set, size_t colors>
class PairPixels {
 public:
  using Ints = Vector<std::int32_t, set>;
  using Words = Vector<std::uint32_t, set>;
  using Shorts = Vector<std::uint16_t, set>;
  static constexpr size_t count = count_of<Ints>;
  static_assert(block % count == 0);

  [[gnu::always_inline]] PairPixels(const PairRow& row, size_t first)
      : row_(row),
        first_(first),
        // No difference is larger than 3 * 255, so that this limit fits.
        limit_(twice(std::min(row.limit, 1000) << color_shift)),
        inverse_(twice(row.inverse << (8 - color_shift))) {
    for (size_t c = 0; c < colors; ++c) {
      const auto color = load<Words>(row.centre + c * row.plane + first) & 0xffffU;
      centre_[c] = as<std::uint16_t>(color | color << 16);
    }
  }

  template <bool by_alpha>
  [[gnu::always_inline]] void add(const PairTap& tap) {
    const std::uint32_t* pixels = row_.window[tap.row] + tap.column + first_;
    Shorts at[colors];
    for (size_t c = 0; c < colors; ++c)
      at[c] = load<Shorts>(pixels + c * row_.plane);
    Shorts weights = weights_of(at, tap.weights);
    if constexpr (by_alpha)
      weights = times_alpha(weights, load<Shorts>(pixels + colors * row_.plane));
    weights_ += weights;
    for (size_t c = 0; c < colors; ++c)
      sums_[c] = plus_pairs<set>(sums_[c], as<std::int16_t>(at[c]), as<std::int16_t>(weights));
  }

  [[gnu::always_inline]] void store_means() const {
    const auto pairs = as<std::uint32_t>(weights_);
    const auto weight = as<std::int32_t>((pairs & 0xffffU) + (pairs >> 16));
    auto rgba = load<Words>(row_.centre_alpha + first_) << 24;
    for (size_t c = 0; c < colors; ++c) {
      const auto color = (as<std::uint32_t>(centre_[c]) & 0xffffU) >> color_shift;
      const auto sum = as<std::uint32_t>(sums_[c]) >> color_shift;
      rgba |= as<std::uint32_t>(mean_of(as<std::int32_t>(sum), weight, as<std::int32_t>(color)))
              << (8 * c);
    }
    store(row_.rgba + first_, rgba);
  }

 private:
  // A number of 16 bits in all places.
  [[gnu::always_inline]] static Shorts twice(std::int32_t number) {
    return as<std::uint16_t>(everywhere<Ints>(number * 0x10001));
  }

  // window_stages.hpp has the formula. What is shifted right by 8 there is the high half of a
  // product here where that is possible, as vectors of 512 bits are shifted by one port only.
  [[gnu::always_inline]] [[nodiscard]] Shorts weights_of(const Shorts* at,
                                                         std::uint32_t near) const {
    Shorts difference{};
    for (size_t c = 0; c < colors; ++c)
      difference += as<std::uint16_t>(magnitude(as<std::int16_t>(at[c] - centre_[c])));
    const Shorts u = multiplied_high(minimum(difference, limit_), inverse_);
    const Shorts q = (static_cast<std::uint16_t>(255 * 255) - u * u) >> 8;
    const Shorts range = q * q & static_cast<std::uint16_t>(0xff00);
    return multiplied_high(range,
                           as<std::uint16_t>(everywhere<Ints>(static_cast<std::int32_t>(near))));
  }

  // weight * alpha / 255, rounded to the nearest number: x / 255 = x * 0x8081 >> 23 in 16 bits.
  [[gnu::always_inline]] static Shorts times_alpha(const Shorts& weights, const Shorts& alpha) {
    const Shorts x = weights * alpha + static_cast<std::uint16_t>(127);
    return multiplied_high(x, Shorts{} + static_cast<std::uint16_t>(0x8081)) >> 7;
  }

  // (sum + weight / 2) / weight. A quotient lies further below a whole number than the precision of
  // a float, or is one. Without weights, which takes alpha 0 everywhere, the colour stays.
  [[gnu::always_inline]] static Ints mean_of(const Ints& sum, const Ints& weight,
                                             const Ints& color) {
    using Floats = Vector<float, set>;
    const Ints without = (weight - 1) >> 31;  // -1 or 0
    const Ints divisor = weight - without;
    const Ints dividend = (sum + (weight >> 1)) | (color & without);
    return __builtin_convertvector(
        __builtin_convertvector(dividend, Floats) / __builtin_convertvector(divisor, Floats), Ints);
  }

  const PairRow& row_;
  size_t first_;
  Shorts limit_;
  Shorts inverse_;
  Shorts centre_[colors];
  Ints sums_[colors] = {};
  Shorts weights_{};
};

template <InstructionSet set, size_t colors, bool by_alpha>
[[gnu::always_inline]] inline void fill_row(const PairRow& row) {
  using Pixels = PairPixels<set, colors>;
  for (size_t i = 0; i < row.pixels; i += Pixels::count) {
    Pixels pixels(row, i);
    for (size_t t = 0; t < row.tap_count; ++t)
      pixels.template add<by_alpha>(row.taps[t]);
    pixels.store_means();
  }
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
  // The row of the first colour; the others follow, and alpha.
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
            const PairRow row{
                .taps = taps.data(),
                .tap_count = taps.size(),
                .window = rows.data(),
                .centre = centre,
                .centre_alpha = format.has_alpha() ? centre + colors * window.plane() : centre,
                .plane = window.plane(),
                .pixels = count,
                .limit = job->numbers->limit,
                .inverse = job->numbers->inverse,
                .rgba = rgba.data()};
            if (weighted && !source.is_opaque(middle, radius)) {
              fill_row<set, colors, true>(row);
            } else {
              fill_row<set, colors, false>(row);
            }
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
    run_products_loop<PairLoop<1>>(&job);
  } else {
    run_products_loop<PairLoop<3>>(&job);
  }
}

}  // namespace gpufilter

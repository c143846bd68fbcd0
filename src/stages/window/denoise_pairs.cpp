// Denoising of 8-bit pictures by the instruction that multiplies pairs of 16-bit numbers and adds
// the products of each pair (pmaddwd).
#include <algorithm>
#include <array>
#include <span>
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

// Two adjacent neighbours, below a pixel or right of it: the position of the first, and the weights
// of both by distance, the second of which may be 0. Two pixels have the same weight for each
// other: it is computed once, for the first of them, and kept until the row of the other one.
struct PairTap {
  std::int32_t row;
  std::int32_t column;
  std::uint32_t weights;
};

// Pairs from one plane of a row to the next. Whole blocks are read and written, and up to a block
// before or after a row is read.
constexpr size_t plane = tile_columns + 2 * DenoiseParameters::max_radius + 4 * block;

// Rows of pairs of 16-bit numbers, in planes.
class PairRows {
 public:
  PairRows(size_t rows, size_t planes)
      : rows_(rows), row_pairs_(planes * plane), pairs_(rows * row_pairs_) {}

  // The first plane of row y, which may be any integer.
  [[nodiscard]] std::uint32_t* row(int y) {
    return pairs_.data() + slot_of_row(y, rows_) * row_pairs_ + block;
  }

 private:
  size_t rows_;
  size_t row_pairs_;
  std::vector<std::uint32_t> pairs_;
};

// Pairs of neighbours before pixels: the colours of the first and the weights, for pixel 0.
struct PairBefore {
  const std::uint32_t* colors;
  const std::uint8_t* weights;
};

// The sums of as many pixels as a vector has pairs.
template <InstructionSet set, size_t colors, bool by_alpha>
class PairSums {
 public:
  using Ints = Vector<std::int32_t, set>;
  using Words = Vector<std::uint32_t, set>;
  using Shorts = Vector<std::uint16_t, set>;
  static constexpr size_t count = count_of<Ints>;
  static_assert(block % count == 0);

  [[gnu::always_inline]] static void get(const std::uint32_t* from, Shorts (&at)[colors]) {
#pragma GCC unroll 3
    for (size_t c = 0; c < colors; ++c)
      at[c] = load<Shorts>(from + c * plane);
  }

  // Two neighbours, which are `at` in the window.
  [[gnu::always_inline]] void add(const Shorts& raw_weights, const Shorts (&neighbours)[colors],
                                  const std::uint32_t* at) {
    Shorts weights = raw_weights;
    if constexpr (by_alpha) weights = times_alpha(weights, load<Shorts>(at + colors * plane));
    weights_ += weights;
#pragma GCC unroll 3
    for (size_t c = 0; c < colors; ++c) {
      sums_[c] =
          plus_pairs<set>(sums_[c], as<std::int16_t>(neighbours[c]), as<std::int16_t>(weights));
    }
  }

  [[gnu::always_inline]] void put(std::uint32_t* to) const {
#pragma GCC unroll 3
    for (size_t c = 0; c < colors; ++c)
      store(to + c * plane, sums_[c]);
    store(to + colors * plane, weights_);
  }
  [[gnu::always_inline]] void take(const std::uint32_t* from) {
#pragma GCC unroll 3
    for (size_t c = 0; c < colors; ++c)
      sums_[c] = load<Ints>(from + c * plane);
    weights_ = load<Shorts>(from + colors * plane);
  }

  // Pixels of RGBA, grey being red; `centre` are the pixels themselves.
  [[gnu::always_inline]] [[nodiscard]] Words means(const std::uint32_t* centre,
                                                   const std::uint32_t* alpha) const {
    const auto pairs = as<std::uint32_t>(weights_);
    const auto weight = as<std::int32_t>((pairs & 0xffffU) + (pairs >> 16));
    auto rgba = load<Words>(alpha) << 24;
#pragma GCC unroll 3
    for (size_t c = 0; c < colors; ++c) {
      const auto color = (load<Words>(centre + c * plane) & 0xffffU) >> color_shift;
      const auto sum = as<std::uint32_t>(sums_[c]) >> color_shift;
      rgba |= as<std::uint32_t>(mean_of(as<std::int32_t>(sum), weight, as<std::int32_t>(color)))
              << (8 * c);
    }
    return rgba;
  }

 private:
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

  Ints sums_[colors] = {};
  Shorts weights_{};
};

// The weights of neighbours after pixels.
template <InstructionSet set>
class PairWeights {
 public:
  using Ints = Vector<std::int32_t, set>;
  using Shorts = Vector<std::uint16_t, set>;

  [[gnu::always_inline]] explicit PairWeights(const DenoiseNumbers& numbers)
      :  // No difference is larger than 3 * 255, so that this limit fits.
        limit_(twice(std::min(numbers.limit, 1000) << color_shift)),
        inverse_(twice(numbers.inverse << (8 - color_shift))) {}

  // window_stages.hpp has the formula. Shifts by 8 are replaced by the high half of a product where
  // possible, because 512-bit vectors are shifted by one port only.
  [[gnu::always_inline]] [[nodiscard]] Shorts of(const Shorts& difference,
                                                 std::uint32_t near) const {
    const Shorts u = multiplied_high(minimum(difference, limit_), inverse_);
    const Shorts q = (static_cast<std::uint16_t>(255 * 255) - u * u) >> 8;
    const Shorts range = q * q & static_cast<std::uint16_t>(0xff00);
    return multiplied_high(range,
                           as<std::uint16_t>(everywhere<Ints>(static_cast<std::int32_t>(near))));
  }

 private:
  // A 16-bit value in all elements.
  [[gnu::always_inline]] static Shorts twice(std::int32_t number) {
    const std::uint32_t both = static_cast<std::uint32_t>(number) * 0x10001U;
    return as<std::uint16_t>(everywhere<Ints>(static_cast<std::int32_t>(both)));
  }

  Shorts limit_;
  Shorts inverse_;
};

bool is_after(const DenoiseTap& tap) {
  return tap.y > 0 || (tap.y == 0 && tap.x > 0);
}

std::vector<PairTap> pairs_of(const std::vector<DenoiseTap>& taps) {
  std::vector<PairTap> pairs;
  for (size_t t = 0; t < taps.size(); ++t) {
    const DenoiseTap& tap = taps[t];
    if (!is_after(tap)) continue;
    PairTap pair{tap.y, tap.x, static_cast<std::uint32_t>(tap.weight)};
    if (t + 1 < taps.size() && taps[t + 1].y == tap.y) {
      pair.weights |= static_cast<std::uint32_t>(taps[t + 1].weight) << 16U;
      ++t;
    }
    pairs.push_back(pair);
  }
  return pairs;
}

// The weight of a pair without difference.
std::int32_t centre_weight(const std::vector<DenoiseTap>& taps) {
  constexpr std::int32_t q = 255 * 255 >> 8;
  const auto centre = std::find_if(taps.begin(), taps.end(),
                                   [](const DenoiseTap& tap) { return tap.x == 0 && tap.y == 0; });
  return (q * q & 0xff00) * centre->weight >> 16;
}

struct Job {
  ConstRows source;
  MutableRows target;
  int height = 0;
  const DenoiseParameters* parameters = nullptr;
  const DenoiseNumbers* numbers = nullptr;
};

template <size_t colors>
class PairLoop {
 public:
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Job* job) {
    PairLoop loop(*job);
    loop.fill<set>();
  }

 private:
  explicit PairLoop(const Job& job)
      : job_(job),
        radius_(job.parameters->radius),
        weighted_(job.source.format.has_alpha() && job.parameters->alpha == AlphaMode::weighted),
        channels_(static_cast<size_t>(job.source.format.channels)),
        columns_(std::min(radius_ > 4 ? tile_columns / 2 : tile_columns, job.source.width)),
        source_(job.source, {.height = job.height,
                             .border = job.parameters->border,
                             .radius = radius_,
                             .rows = 2 * radius_ + 1,
                             .columns = columns_,
                             .weighted = weighted_}),
        taps_(pairs_of(job.numbers->taps)),
        centre_weight_(centre_weight(job.numbers->taps)),
        window_(static_cast<size_t>(2 * radius_ + 1),
                colors + (job.source.format.has_alpha() ? 1 : 0)),
        weights_(static_cast<size_t>(radius_ + 1), taps_.size()),
        sums_(1, colors + 1),
        rgba_(plane),
        neighbours_(taps_.size()) {}

  template <InstructionSet set>
  [[gnu::always_inline]] void fill() {
    const RowRange target = job_.target.rows;
    source_.for_tiles(
        target.begin - radius_, [&](const Columns& tile) __attribute__((always_inline)) {
          const auto count = static_cast<size_t>(tile.count());
          const size_t pixels = count + static_cast<size_t>(2 * radius_);
          for (int y = target.begin - radius_; y < target.end + radius_; ++y) {
            source_.reach(y);
            to_rgba<set>(source_.row(y), channels_, pixels, bytes_of(rgba_.data()));
            add(y, pixels);
            if (y < target.begin) continue;
            const int middle = y - radius_;
            if (weighted_ && middle >= target.begin && !source_.is_opaque(middle, radius_)) {
              put_row<set, true>(middle, pixels, count);
            } else {
              put_row<set, false>(middle, pixels, count);
            }
          }
        });
  }

  // Adds row y of the window, channel by channel, each sample paired with its right neighbour. The
  // first pixel is also a neighbour; one more pixel is read.
  [[gnu::always_inline]] void add(int y, size_t pixels) {
    std::uint32_t* out = window_.row(y);
    const size_t planes = colors + (job_.source.format.has_alpha() ? 1 : 0);
    for (size_t c = 0; c < planes; ++c, out += plane) {
      const size_t place = 8 * (c < colors ? c : 3);
      const size_t shift = c < colors ? color_shift : 0;
      out[-1] = (rgba_[0] >> place & 0xffU) << (16 + shift);
      for (size_t i = 0; i < pixels; ++i)
        out[i] = ((rgba_[i] >> place & 0xffU) | (rgba_[i + 1] >> place & 0xffU) << 16U) << shift;
    }
  }

  // Rows above the target contribute only their weights.
  template <InstructionSet set, bool by_alpha>
  [[gnu::always_inline]] void put_row(int y, size_t pixels, size_t count) {
    add_after<set, by_alpha>(y, pixels);
    if (y < job_.target.rows.begin) return;
    find_neighbours(y);
    add_before<set, by_alpha>(y, count);
    put<set>(rgba_.data(), count, channels_, source_.target_at(job_.target, y));
  }

  // Sums of the pixels, those left and right of the tile among them, and of the neighbours after
  // them.
  template <InstructionSet set, bool by_alpha>
  [[gnu::always_inline]] void add_after(int y, size_t pixels) {
    using Sums = PairSums<set, colors, by_alpha>;
    using Shorts = typename Sums::Shorts;
    std::array<const std::uint32_t*, DenoiseParameters::max_radius + 1> window{};
    for (int i = 0; i <= radius_; ++i)
      window[static_cast<size_t>(i)] = window_.row(y + i);
    const PairWeights<set> weights(*job_.numbers);
    const int needed = job_.target.rows.begin - y;  // the first row
    const std::span<const PairTap> taps(taps_);
    std::uint32_t* sums_out = sums_.row(0);
    for (size_t i = 0; i < pixels; i += Sums::count) {
      Shorts centre[colors];
      Sums::get(window[0] + i, centre);
      Sums sums;
      sums.add(as<std::uint16_t>(everywhere<typename Sums::Ints>(centre_weight_)), centre,
               window[0] + i);
#pragma GCC unroll 3
      for (Shorts& color : centre) {
        const auto first = as<std::uint32_t>(color) & 0xffffU;
        color = as<std::uint16_t>(first | first << 16);
      }
      std::uint32_t* weights_out = weights_.row(y) + i;
      for (const PairTap& tap : taps) {
        if (tap.row >= needed) {
          const std::uint32_t* at = window[static_cast<size_t>(tap.row)] + tap.column + i;
          Shorts neighbours[colors];
          Sums::get(at, neighbours);
          Shorts difference{};
#pragma GCC unroll 3
          for (size_t c = 0; c < colors; ++c)
            difference += as<std::uint16_t>(magnitude(as<std::int16_t>(neighbours[c] - centre[c])));
          const Shorts of_pair = weights.of(difference, tap.weights);
          store(weights_out, of_pair);
          sums.add(of_pair, neighbours, at);
        }
        weights_out += plane;
      }
      sums.put(sums_out + i);
    }
  }

  // Adds the sums of the neighbours before the pixels.
  template <InstructionSet set, bool by_alpha>
  [[gnu::always_inline]] void add_before(int y, size_t count) {
    using Sums = PairSums<set, colors, by_alpha>;
    const std::uint32_t* centre = window_.row(y) + radius_;
    const std::uint32_t* alpha = centre + (job_.source.format.has_alpha() ? colors * plane : 0);
    const std::uint32_t* after = sums_.row(0) + radius_;
    const std::span<const PairBefore> all(neighbours_);
    std::uint32_t* rgba = rgba_.data();
    for (size_t i = 0; i < count; i += Sums::count) {
      Sums sums;
      sums.take(after + i);
      for (const PairBefore& pair : all) {
        typename Sums::Shorts neighbours[colors];
        Sums::get(pair.colors + i, neighbours);
        sums.add(load<typename Sums::Shorts>(pair.weights + i * sizeof *rgba), neighbours,
                 pair.colors + i);
      }
      store(rgba + i, sums.means(centre + i, alpha + i));
    }
  }

  // For a pixel's earlier neighbours the roles are swapped: it is the second of each pair, and then
  // the first of the pair that belongs to the pixel on the right.
  void find_neighbours(int y) {
    for (size_t t = 0; t < taps_.size(); ++t) {
      const PairTap& tap = taps_[t];
      const int first = radius_ - tap.column - 1;
      const std::uint32_t* weights = weights_.row(y - tap.row) + t * plane + first;
      neighbours_[t] = {window_.row(y - tap.row) + first,
                        reinterpret_cast<const std::uint8_t*>(weights) + 2};
    }
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

  const Job& job_;
  int radius_;
  bool weighted_;
  size_t channels_;
  int columns_;
  WindowRows<std::uint8_t> source_;
  std::vector<PairTap> taps_;
  std::int32_t centre_weight_;
  PairRows window_;   // colours and alpha
  PairRows weights_;  // for each tap
  PairRows sums_;     // of a row
  std::vector<std::uint32_t> rgba_;
  std::vector<PairBefore> neighbours_;
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

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "host/loops.hpp"
#include "host/pixels.hpp"
#include "stages/geometry/warp.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr int weight_bits = WarpMap::weight_bits;
constexpr std::int32_t unit = 1 << weight_bits;

// Between the directions, and after them, samples of 8 bits have seven more.
template <typename Sample>
inline constexpr int more_bits = sizeof(Sample) == 1 ? 7 : 0;

// Products with weights and their sums.
template <typename Sample>
using WarpSum = std::conditional_t<sizeof(Sample) == 1, std::int32_t, std::int64_t>;

// The weights of a cubic kernel with a = -1/2; t is the weight of the next pixel.
[[gnu::always_inline]] inline void cubic_weights(std::int32_t t, std::int32_t& w0, std::int32_t& w1,
                                                 std::int32_t& w2, std::int32_t& w3) {
  constexpr std::int32_t half = unit / 2;
  const std::int32_t square = (t * t + half) >> weight_bits;
  const std::int32_t cube = (square * t + half) >> weight_bits;
  w0 = -((t - 2 * square + cube + 1) >> 1);
  w2 = (t + 4 * square - 3 * cube + 1) >> 1;
  w3 = -((square - cube + 1) >> 1);
  w1 = unit - w0 - w2 - w3;
}

// Along rows, then along columns.
template <typename Sample, typename Sum>
[[gnu::always_inline]] inline std::int32_t rounded_row(Sum sum) {
  constexpr int shift = weight_bits - more_bits<Sample>;
  return static_cast<std::int32_t>((sum + (1 << (shift - 1))) >> shift);
}
template <typename Sum>
[[gnu::always_inline]] inline std::int32_t rounded_column(Sum sum) {
  return static_cast<std::int32_t>((sum + unit / 2) >> weight_bits);
}

// The sample of a sum over all samples of a pixel.
template <typename Sample>
[[gnu::always_inline]] inline Sample rounded_pixel(std::int32_t sum, int sample_bits) {
  const int shift = more_bits<Sample> + sample_bits;
  const std::int32_t sample = (sum + ((1 << shift) >> 1)) >> shift;
  constexpr std::int32_t max = std::numeric_limits<Sample>::max();
  return static_cast<Sample>(sample < 0 ? 0 : sample > max ? max : sample);
}

struct WarpJob {
  const Warp& warp;
  ConstRows source;
  MutableRows target;
};

// ---- Any pixel, by the definition ----

template <typename Sample>
class WarpedPixel {
 public:
  WarpedPixel(const WarpJob& job, int x, int y)
      : warp_(job.warp),
        source_(job.source),
        taps_(warp_taps(warp_.interpolation)),
        channels_(job.source.format.channels),
        all_channels_(job.target.format.channels),
        has_alpha_(job.target.format.has_alpha()) {
    for (size_t sample = 0; sample < warp_.map.u.offsets.size(); ++sample)
      add(warp_.map.place(x, y, sample));
  }

  void store(Sample* out) const {
    const int bits = warp_.map.sample_bits;
    constexpr std::int64_t max = std::numeric_limits<Sample>::max();
    for (int c = 0; c < all_channels_; ++c)
      out[c] = rounded_pixel<Sample>(static_cast<std::int32_t>(at(plain_, c)), bits);
    if (!has_alpha_ || opaque_) return;
    const int last = all_channels_ - 1;
    const std::int64_t alpha = at(weighted_, last);
    const int shift = weight_bits + bits;
    const std::int64_t half = std::int64_t{1} << (shift - 1);
    out[last] = static_cast<Sample>(std::clamp<std::int64_t>((alpha + half) >> shift, 0, max));
    for (int c = 0; c < last && alpha > 0; ++c) {
      const std::int64_t color = std::max<std::int64_t>(at(weighted_, c), 0);
      out[c] = static_cast<Sample>(std::min((color + alpha / 2) / alpha, max));
    }
  }

 private:
  using Numbers = std::array<std::int64_t, 4>;
  template <typename Array>
  static auto& at(Array& array, int i) {
    return array[static_cast<size_t>(i)];
  }

  // The pixel of the source, or one outside; its alpha is opaque if there is none.
  [[nodiscard]] Numbers pixel(int x, int y) const {
    const int column = border_position(warp_.outside, x, warp_.source.width);
    const int row = border_position(warp_.outside, y, warp_.source.height);
    Numbers numbers{};
    if (column < 0 || row < 0) {
      std::copy(warp_.color.begin(), warp_.color.end(), numbers.begin());
      return numbers;
    }
    at(numbers, all_channels_ - 1) = std::numeric_limits<Sample>::max();
    const auto* from = reinterpret_cast<const Sample*>(source_.row(row)) +
                       static_cast<size_t>(column) * static_cast<size_t>(channels_);
    std::copy_n(from, channels_, numbers.begin());
    return numbers;
  }

  void add(const std::array<WarpMap::Place, 2>& place) {
    const auto across = warp_weights(warp_.interpolation, place[0].weight);
    const auto down = warp_weights(warp_.interpolation, place[1].weight);
    const int before = taps_before(warp_.interpolation);
    Numbers sums{};
    Numbers products{};
    for (int j = 0; j < taps_; ++j) {
      Numbers row{};
      for (int i = 0; i < taps_; ++i) {
        const Numbers tap = pixel(place[0].pixel - before + i, place[1].pixel - before + j);
        const std::int64_t alpha = has_alpha_ ? at(tap, all_channels_ - 1) : 1;
        opaque_ = opaque_ && alpha == std::numeric_limits<Sample>::max();
        for (int c = 0; c < all_channels_; ++c) {
          const bool is_color = c < all_channels_ - 1;
          at(row, c) += at(tap, c) * at(across, i);
          at(products, c) +=
              std::int64_t{at(across, i)} * at(down, j) * alpha * (is_color ? at(tap, c) : 1);
        }
      }
      for (int c = 0; c < all_channels_; ++c)
        at(sums, c) += std::int64_t{rounded_row<Sample>(at(row, c))} * at(down, j);
    }
    for (int c = 0; c < all_channels_; ++c) {
      at(plain_, c) += rounded_column(at(sums, c));
      at(weighted_, c) += (at(products, c) + unit / 2) >> weight_bits;
    }
  }

  const Warp& warp_;
  const ConstRows& source_;
  int taps_;
  int channels_;
  int all_channels_;
  bool has_alpha_;
  bool opaque_ = true;
  Numbers plain_{};
  Numbers weighted_{};
};

// ---- Blocks of pixels in a row ----

constexpr int block = 64;  // pixels
constexpr int tile = 16;   // rows that blocks go down together: their sources are neighbours

// The first taps of a block's pixels and the weights of the next.
struct Places {
  alignas(64) std::array<std::int32_t, block> x;
  alignas(64) std::array<std::int32_t, block> y;
  alignas(64) std::array<std::int32_t, block> weight_x;
  alignas(64) std::array<std::int32_t, block> weight_y;
};

[[gnu::always_inline]] inline void affine_places(std::int64_t position, std::int64_t step,
                                                 std::int32_t* pixels, std::int32_t* weights) {
  for (int i = 0; i < block; ++i) {
    const std::int64_t at = position + step * i;
    pixels[i] = static_cast<std::int32_t>(at >> 32U);
    weights[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(at) >> (32U - weight_bits));
  }
}

template <typename Sample, size_t channels, Interpolation interpolation>
class WarpBlocks {
 public:
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const WarpJob* job) {
    const RowRange rows = job->target.rows;
    for (int top = rows.begin; top < rows.end; top += tile) {
      for (int x = 0; x < job->target.width; x += block) {
        for (int y = top; y < std::min(top + tile, rows.end); ++y)
          fill<set>(*job, x, y);
      }
    }
  }

 private:
  static constexpr int taps = warp_taps(interpolation);
  static constexpr int before = taps_before(interpolation);
  // Pixels are moved as words; of three samples, with the one behind them.
  static constexpr size_t lanes = channels == 3 ? 4 : channels;
  static constexpr size_t lane_count = block * lanes;
  static constexpr bool has_alpha = channels % 2 == 0;

  using Numbers = std::array<std::int32_t, lane_count>;
  struct Work {
    Places places;
    alignas(64) std::array<std::int32_t, block> special;  // pixels that are left to WarpedPixel
    alignas(64) std::array<std::int32_t, block> outside;  // of these, those without a tap inside
    alignas(64) std::array<std::array<std::array<Sample, lane_count>, taps>, taps> pixels;
    alignas(64) Numbers sums;
    alignas(64) std::array<Numbers, taps> across;
    alignas(64) std::array<Numbers, taps> down;
    alignas(64) std::array<Sample, lane_count> result;
  };

  template <InstructionSet set>
  [[gnu::always_inline]] static void fill(const WarpJob& job, int x, int y) {
    const WarpMap& map = job.warp.map;
    const int count = std::min(block, job.target.width - x);
    const size_t target_channels = static_cast<size_t>(job.target.format.channels);
    Sample* out =
        reinterpret_cast<Sample*>(job.target.row(y)) + static_cast<size_t>(x) * target_channels;
    Work work;
    work.special.fill(0);
    for (size_t sample = 0; sample < map.u.offsets.size(); ++sample) {
      find_places(map, x, y, sample, work.places);
      if (is_all_outside(job.warp, work))
        return fill_outside(job.warp, count, target_channels, out);
      if (!keep_inside(job, work)) return fill_specially(job, x, y, count, work, out);
      take_pixels(job.source, work);
      interpolate(work, sample == 0);
    }
    for (size_t i = 0; i < lane_count; ++i)
      work.result[i] = rounded_pixel<Sample>(work.sums[i], map.sample_bits);
    write<set>(work.result.data(), static_cast<size_t>(count), target_channels, out);
    fill_specially(job, x, y, count, work, out);
  }

  [[gnu::always_inline]] static void find_places(const WarpMap& map, int x, int y, size_t sample,
                                                 Places& places) {
    if (!map.is_projective) {
      affine_places(map.u.at(x, y, sample), map.u.x, places.x.data(), places.weight_x.data());
      affine_places(map.v.at(x, y, sample), map.v.x, places.y.data(), places.weight_y.data());
    } else {
      for (int i = 0; i < block; ++i) {
        const auto place = map.place(x + i, y, sample);
        const auto at = static_cast<size_t>(i);
        places.x[at] = place[0].pixel;
        places.y[at] = place[1].pixel;
        places.weight_x[at] = place[0].weight;
        places.weight_y[at] = place[1].weight;
      }
    }
    for (size_t i = 0; i < block; ++i) {
      places.x[i] -= before;
      places.y[i] -= before;
    }
  }

  // Marks pixels of one sample without a tap in the picture; returns whether all are.
  [[gnu::always_inline]] static bool is_all_outside(const Warp& warp, Work& work) {
    work.outside.fill(0);
    if (warp.outside != Border::constant || warp.map.sample_bits > 0) return false;
    std::int32_t all = 1;
    for (size_t i = 0; i < block; ++i) {
      const std::int32_t x = work.places.x[i];
      const std::int32_t y = work.places.y[i];
      work.outside[i] = static_cast<std::int32_t>(x <= -taps) |
                        static_cast<std::int32_t>(x >= warp.source.width) |
                        static_cast<std::int32_t>(y <= -taps) |
                        static_cast<std::int32_t>(y >= warp.source.height);
      all &= work.outside[i];
    }
    return all != 0;
  }

  static void fill_outside(const Warp& warp, int count, size_t target_channels, Sample* out) {
    for (int i = 0; i < count; ++i) {
      for (size_t c = 0; c < target_channels; ++c)
        *out++ = static_cast<Sample>(warp.color[c]);
    }
  }

  // Marks pixels with taps outside, and moves these to anywhere inside. Returns whether there is
  // an inside.
  [[gnu::always_inline]] static bool keep_inside(const WarpJob& job, Work& work) {
    const std::int32_t right = job.warp.source.width - taps - (channels == 3 ? 1 : 0);
    const std::int32_t top = job.source.rows.begin;
    const std::int32_t bottom = job.source.rows.end - taps;
    if (right < 0 || bottom < top) {
      work.special.fill(1);
      return false;
    }
    for (size_t i = 0; i < block; ++i) {
      const std::int32_t x = work.places.x[i];
      const std::int32_t y = work.places.y[i];
      const std::int32_t inside_x = x < 0 ? 0 : x > right ? right : x;
      const std::int32_t inside_y = y < top ? top : y > bottom ? bottom : y;
      work.special[i] |= (inside_x ^ x) | (inside_y ^ y);
      work.places.x[i] = inside_x;
      work.places.y[i] = inside_y;
    }
    return true;
  }

  [[gnu::always_inline]] static void take_pixels(const ConstRows& source, Work& work) {
    constexpr size_t bytes = channels * sizeof(Sample);
    const std::uint8_t* const first = source.row(0);
    for (size_t i = 0; i < block; ++i) {
      const std::uint8_t* row =
          first +
          static_cast<std::ptrdiff_t>(work.places.y[i]) *
              static_cast<std::ptrdiff_t>(source.pitch) +
          static_cast<std::ptrdiff_t>(work.places.x[i]) * std::ptrdiff_t{bytes};
      for (int j = 0; j < taps; ++j, row += source.pitch) {
        for (int k = 0; k < taps; ++k)
          std::memcpy(&work.pixels[static_cast<size_t>(j)][static_cast<size_t>(k)][i * lanes],
                      row + static_cast<size_t>(k) * bytes, lanes * sizeof(Sample));
      }
    }
    if constexpr (has_alpha && interpolation != Interpolation::nearest) {
      for (size_t i = 0; i < block; ++i) {
        std::int32_t alpha = std::numeric_limits<Sample>::max();
        for (const auto& tap_row : work.pixels) {
          for (const auto& tap : tap_row)
            alpha &= tap[i * lanes + lanes - 1];
        }
        work.special[i] |= alpha ^ std::numeric_limits<Sample>::max();
      }
    }
  }

  [[gnu::always_inline]] static void interpolate(Work& work, bool is_first) {
    if (is_first) work.sums.fill(0);
    if constexpr (interpolation == Interpolation::nearest) {
      for (size_t i = 0; i < lane_count; ++i)
        work.sums[i] = work.pixels[0][0][i] << more_bits<Sample>;
    } else if constexpr (interpolation == Interpolation::linear) {
      add_linear(work);
    } else {
      add_cubic(work);
    }
  }

  // Samples of 8 bits, and their differences, have 16 bits with a sign here.
  using Linear = std::conditional_t<sizeof(Sample) == 1, std::int16_t, std::int32_t>;
  using LinearNumbers = std::array<Linear, lane_count>;

  [[gnu::always_inline]] static void add_linear(Work& work) {
    alignas(64) LinearNumbers across;
    alignas(64) LinearNumbers down;
    for (size_t i = 0; i < block; ++i) {
      for (size_t c = 0; c < lanes; ++c) {
        across[i * lanes + c] = static_cast<Linear>(work.places.weight_x[i]);
        down[i * lanes + c] = static_cast<Linear>(work.places.weight_y[i]);
      }
    }
    const auto& p = work.pixels;
    for (size_t i = 0; i < lane_count; ++i) {
      const Linear above = mixed(raised(p[0][0][i]), raised(p[0][1][i]), across[i]);
      const Linear below = mixed(raised(p[1][0][i]), raised(p[1][1][i]), across[i]);
      work.sums[i] += mixed(above, below, down[i]);
    }
  }

  [[gnu::always_inline]] static Linear raised(Sample sample) {
    return static_cast<Linear>(sample << more_bits<Sample>);
  }
  // The same as rounded_row() and rounded_column() with the weights unit - t and t.
  [[gnu::always_inline]] static Linear mixed(Linear a, Linear b, Linear t) {
    const auto difference = static_cast<Linear>(b - a);
    const std::int32_t product = std::int32_t{difference} * t;
    return static_cast<Linear>(a + static_cast<Linear>(((product >> (weight_bits - 1)) + 1) >> 1));
  }

  [[gnu::always_inline]] static void set_cubic_weights(
      const std::array<std::int32_t, block>& places, std::array<Numbers, taps>& weights) {
    alignas(64) std::array<std::array<std::int32_t, block>, 4> each;
    for (size_t i = 0; i < block; ++i)
      cubic_weights(places[i], each[0][i], each[1][i], each[2][i], each[3][i]);
    for (size_t k = 0; k < taps; ++k) {
      for (size_t i = 0; i < block; ++i) {
        for (size_t c = 0; c < lanes; ++c)
          weights[k][i * lanes + c] = each[k][i];
      }
    }
  }

  [[gnu::always_inline]] static void add_cubic(Work& work) {
    set_cubic_weights(work.places.weight_x, work.across);
    set_cubic_weights(work.places.weight_y, work.down);
    using Sum = WarpSum<Sample>;
    const auto& p = work.pixels;
    for (size_t i = 0; i < lane_count; ++i) {
      Sum sum = 0;
#pragma GCC unroll 4
      for (size_t j = 0; j < taps; ++j) {
        Sum row = 0;
#pragma GCC unroll 4
        for (size_t k = 0; k < taps; ++k)
          row += static_cast<Sum>(p[j][k][i]) * work.across[k][i];
        sum += static_cast<Sum>(rounded_row<Sample>(row)) * work.down[j][i];
      }
      work.sums[i] += rounded_column(sum);
    }
  }

  template <InstructionSet set>
  [[gnu::always_inline]] static void write(const Sample* result, size_t count,
                                           size_t target_channels, Sample* out) {
    constexpr Sample max = std::numeric_limits<Sample>::max();
    if (target_channels == lanes && channels != 3) {
      std::memcpy(out, result, count * lanes * sizeof(Sample));
    } else if (channels == 3 && target_channels == 3) {
      to_rgb<set>(result, count, out);
    } else {  // with an opaque alpha
      for (size_t i = 0; i < count; ++i) {
        for (size_t c = 0; c < channels; ++c)
          out[i * (channels + 1) + c] = result[i * lanes + c];
        out[i * (channels + 1) + channels] = max;
      }
    }
  }

  static void fill_specially(const WarpJob& job, int x, int y, int count, const Work& work,
                             Sample* out) {
    const auto target_channels = static_cast<size_t>(job.target.format.channels);
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      if (work.special[at] == 0) continue;
      Sample* const pixel = out + at * target_channels;
      if (work.outside[at] != 0) {
        std::copy_n(job.warp.color.begin(), target_channels, pixel);
      } else {
        WarpedPixel<Sample>(job, x + i, y).store(pixel);
      }
    }
  }
};

template <typename Sample, size_t channels>
void run_blocks(const WarpJob& job) {
  switch (job.warp.interpolation) {
    case Interpolation::nearest:
      return run_loop<WarpBlocks<Sample, channels, Interpolation::nearest>>(&job);
    case Interpolation::linear:
      return run_loop<WarpBlocks<Sample, channels, Interpolation::linear>>(&job);
    case Interpolation::cubic:
      return run_loop<WarpBlocks<Sample, channels, Interpolation::cubic>>(&job);
  }
}

template <typename Sample>
void run_channels(const WarpJob& job) {
  switch (job.source.format.channels) {
    case 1:
      return run_blocks<Sample, 1>(job);
    case 2:
      return run_blocks<Sample, 2>(job);
    case 3:
      return run_blocks<Sample, 3>(job);
    default:
      return run_blocks<Sample, 4>(job);
  }
}

}  // namespace

std::array<std::int32_t, 4> warp_weights(Interpolation interpolation, std::int32_t weight) {
  if (interpolation == Interpolation::nearest) return {unit};
  if (interpolation == Interpolation::linear) return {unit - weight, weight};
  std::array<std::int32_t, 4> weights{};
  cubic_weights(weight, weights[0], weights[1], weights[2], weights[3]);
  return weights;
}

void warp_rows(const Warp& warp, const ConstRows& source, const MutableRows& target) {
  const WarpJob job{warp, source, target};
  target.format.depth == 8 ? run_channels<std::uint8_t>(job) : run_channels<std::uint16_t>(job);
}

}  // namespace gpufilter

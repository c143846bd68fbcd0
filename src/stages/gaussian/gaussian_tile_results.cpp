#include <cstring>

#include "host/vectors.hpp"
#include "stages/gaussian/gaussian_pairs.hpp"
#include "stages/gaussian/gaussian_tile_loops.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr InstructionSet tile_set = InstructionSet::avx512_vbmi;
using Ints = Vector<std::int32_t, tile_set>;
using Bytes = Vector<std::uint8_t, tile_set>;
using Shorts = Vector<std::int16_t, tile_set>;
using Floats = Vector<float, tile_set>;
constexpr size_t lanes = count_of<Ints>;

// Some bytes of each number, from the lowest or a later one on, one number after the other.
template <size_t first, size_t count>
[[gnu::always_inline]] inline void store_bytes(const Ints& numbers, void* to) {
  constexpr static auto places = [] {
    std::array<std::uint8_t, sizeof(Bytes)> of_each{};
    for (size_t i = 0; i < lanes * count; ++i)
      of_each[i] = static_cast<std::uint8_t>(i / count * 4 + first + i % count);
    return of_each;
  }();
  const Bytes bytes = permuted<tile_set>(as<std::uint8_t>(numbers), load<Bytes>(places.data()));
  std::memcpy(to, &bytes, lanes * count);
}

[[gnu::always_inline]] inline Ints weights_of(std::uint32_t pair) {
  return everywhere<Ints>(static_cast<std::int32_t>(pair));
}

constexpr int lines = gaussian_lines;

// Adds the products of `count` neighbouring distances: of the pair rows from `above` and from
// `below` on for the nearest of them. The pair rows for the next distance are two rows further
// away; all lines but two share them with other lines.
template <int count>
[[gnu::always_inline]] inline void add_products(const std::uint32_t* const* above,
                                                const std::uint32_t* const* below, size_t i,
                                                const Ints* weights, Ints* sums) {
  Shorts upper[lines];
  Shorts lower[lines];
#pragma GCC unroll 8
  for (int line = 0; line < lines; ++line) {
    upper[line] = load<Shorts>(above[line] + i);
    lower[line] = load<Shorts>(below[line] + i);
  }
#pragma GCC unroll 4
  for (int k = 0; k < count; ++k) {
#pragma GCC unroll 8
    for (int line = 0; line < lines; ++line) {
      const Shorts pairs = upper[line] + lower[line];
      sums[line] =
          plus_pairs<tile_set>(sums[line], pairs, as<std::int16_t>(weights[2 * k + line % 2]));
    }
    if (k + 1 == count) break;
#pragma GCC unroll 8
    for (int line = 0; line < lines - 2; ++line) {
      upper[lines - 1 - line] = upper[lines - 3 - line];
      lower[line] = lower[line + 2];
    }
#pragma GCC unroll 2
    for (int line = 0; line < 2; ++line) {
      upper[line] = load<Shorts>(above[line - 2 * (k + 1)] + i);
      lower[lines - 2 + line] = load<Shorts>(below[lines + line + 2 * k] + i);
    }
  }
}

template <int count>
[[gnu::always_inline]] inline void add_next_products(const std::uint32_t* const* above,
                                                     const std::uint32_t* const* below, size_t i,
                                                     const std::uint32_t* weights, Ints* sums) {
  Ints vectors_of_weights[2 * count];
#pragma GCC unroll 8
  for (int k = 0; k < 2 * count; ++k)
    vectors_of_weights[k] = weights_of(weights[k]);
  add_products<count>(above, below, i, vectors_of_weights, sums);
}

constexpr int distances_at_once = 4;

// fixed: weights.pair_rows, at most distances_at_once, if their weights are `kept` in registers; 0:
// any number.
template <int fixed>
[[gnu::always_inline]] inline void add_all_products(const std::uint32_t* const* pairs, size_t i,
                                                    const GaussianTileWeights& weights,
                                                    const Ints* kept, Ints* sums) {
  if constexpr (fixed > 0) {
    const std::uint32_t* const* above = pairs + 2 * fixed - 2;
    add_products<fixed>(above, above + 1, i, kept, sums);
    return;
  }
  int left = weights.pair_rows;
  const std::uint32_t* const* above = pairs + 2 * left - 2;
  const std::uint32_t* const* below = above + 1;
  const std::uint32_t* next = weights.along_column.data();
  for (; left >= distances_at_once; left -= distances_at_once) {
    add_next_products<distances_at_once>(above, below, i, next, sums);
    above -= 2 * distances_at_once;
    below += 2 * distances_at_once;
    next += 2 * distances_at_once;
  }
  if (left == 1) add_next_products<1>(above, below, i, next, sums);
  if (left == 2) add_next_products<2>(above, below, i, next, sums);
  if (left == 3) add_next_products<3>(above, below, i, next, sums);
}

// Converts the sums along columns, which are twice the definition's, because the weights are, and
// below 2^31: to samples; ...
struct ToSamples {
  static constexpr int dropped = 22;
  std::uint8_t* const* out;

  [[gnu::always_inline]] void operator()(size_t line, size_t i, const Ints& sums) const {
    store_bytes<3, 1>(as<std::int32_t>(as<std::uint32_t>(sums) << 1), out[line] + i);
  }
};

// ... to values with seven more bits; ...
struct ToFineNumbers {
  static constexpr int dropped = 15;
  std::int16_t* const* out;

  [[gnu::always_inline]] void operator()(size_t line, size_t i, const Ints& sums) const {
    store_bytes<2, 2>(sums, out[line] + i);
  }
};

// ... to samples with an unsharp mask, as in sharpen_line().
template <bool has_threshold>
struct ToSharpened {
  static constexpr int dropped = 15;
  float amount;
  float threshold;
  const std::uint8_t* const* originals;
  std::uint8_t* const* out;

  [[gnu::always_inline]] void operator()(size_t line, size_t i, const Ints& sums) const {
    const auto sample = load_bytes<Ints>(originals[line] + i);
    const auto fine = as<std::int32_t>(as<std::uint32_t>(sums) >> 16);
    const auto difference = __builtin_convertvector((sample << 7) - fine, Floats);
    const auto original = __builtin_convertvector(sample, Floats);
    Floats sharp = fused_multiply_add<tile_set>(everywhere<Floats>(amount), difference, original);
    if constexpr (has_threshold) {
      const auto size = as<float>(as<std::int32_t>(difference) & 0x7fffffff);
      sharp = size > everywhere<Floats>(threshold) ? sharp : original;
    }
    const Floats saturated = minimum(Floats{} + 255, maximum(Floats{}, sharp));
    // From 2^23 on floats are integers, which end in the sum's bits.
    store_bytes<0, 1>(as<std::int32_t>(saturated + 0x1p23F), out[line] + i);
  }
};

template <int fixed, typename Finish>
struct TileColumns {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const std::uint32_t* const* pairs, size_t count,
                                         const GaussianTileWeights* weights, const Finish* finish) {
    static_assert(set == tile_set);
    Ints kept[2 * fixed + 1];
    for (size_t k = 0; k < 2 * fixed; ++k)
      kept[k] = weights_of(weights->along_column[k]);
    for (size_t i = 0; i < count; i += lanes) {
      Ints sums[lines];
#pragma GCC unroll 8
      for (Ints& each : sums)
        each = Ints{} + ((1 << Finish::dropped) + (1 << 30));
      add_all_products<fixed>(pairs, i, *weights, kept, sums);
#pragma GCC unroll 8
      for (size_t line = 0; line < lines; ++line)
        (*finish)(line, i, sums[line]);
    }
  }
};

template <typename Finish>
void results(const std::uint32_t* const* pairs, size_t count, const GaussianTileWeights& weights,
             const Finish& finish) {
  switch (weights.pair_rows) {
    case 2:
      return run_loop_of_sets<TileColumns<2, Finish>, tile_set>(pairs, count, &weights, &finish);
    case 4:
      return run_loop_of_sets<TileColumns<4, Finish>, tile_set>(pairs, count, &weights, &finish);
    default:
      return run_loop_of_sets<TileColumns<0, Finish>, tile_set>(pairs, count, &weights, &finish);
  }
}

}  // namespace

GaussianTileWeights::GaussianTileWeights(const std::vector<std::int32_t>& weights)
    : pair_rows(static_cast<int>(weights.size() + 1) / 2), along_row(quads_of(weights)) {
  const auto twice = [&](size_t distance) {
    return distance < weights.size() ? 2 * weights[distance] : 0;
  };
  for (size_t d = 0; d < weights.size(); d += 2) {
    // The sums of the middle row are added to themselves.
    const std::int32_t even = d == 0 ? weights.front() : twice(d);
    along_column.push_back(pair_of(even, twice(d + 1)));
    along_column.push_back(pair_of(twice(d + 1), even));
  }
}

void gaussian_tile_results(const std::uint32_t* const* pairs, std::size_t count,
                           const GaussianTileWeights& weights,
                           const GaussianTileOut<std::uint8_t>& out) {
  results(pairs, count, weights, ToSamples{out.data()});
}

void gaussian_tile_results(const std::uint32_t* const* pairs, std::size_t count,
                           const GaussianTileWeights& weights,
                           const GaussianTileOut<std::int16_t>& out) {
  results(pairs, count, weights, ToFineNumbers{out.data()});
}

void gaussian_tile_results(const std::uint32_t* const* pairs, std::size_t count,
                           const GaussianTileWeights& weights, const GaussianTileMask& mask,
                           const GaussianTileOut<std::uint8_t>& out) {
  const std::uint8_t* const* originals = mask.originals.data();
  if (mask.threshold > 0) {
    results(pairs, count, weights,
            ToSharpened<true>{mask.amount, mask.threshold, originals, out.data()});
  } else {
    results(pairs, count, weights, ToSharpened<false>{mask.amount, 0, originals, out.data()});
  }
}

}  // namespace gpufilter

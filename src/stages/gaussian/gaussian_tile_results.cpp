#include "stages/gaussian/gaussian_tile_loops.hpp"
#include "stages/gaussian/gaussian_tile_vectors.hpp"

#ifdef __x86_64__
#include <cstring>

#include "stages/gaussian/gaussian_pairs.hpp"

// GCC warns of undefined values within its own intrinsics.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace gpufilter {
namespace gaussian_tiles {
namespace {

using std::size_t;

// Gathers the lowest byte, or the upper bytes, of each sum.
constexpr Places byte_places() {
  Places places{};
  for (size_t i = 0; i < lanes; ++i)
    places[i] = static_cast<std::uint8_t>(4 * i);
  return places;
}
constexpr Places upper_places(size_t bytes) {
  Places places{};
  for (size_t i = 0; i < lanes * bytes; ++i)
    places[i] = static_cast<std::uint8_t>(i / bytes * 4 + 4 - bytes + i % bytes);
  return places;
}

GAUSSIAN_INLINED Numbers plus_pair_products(Numbers sums, __m512i pairs, __m512i weights) {
  return reinterpret_cast<Numbers>(
      _mm512_dpwssd_epi32(reinterpret_cast<__m512i>(sums), pairs, weights));
}

constexpr int lines = gaussian_lines;

// Adds the products of `count` neighbouring distances: of the pair rows from `above` and from
// `below` on for the nearest of them. The pair rows for the next distance are two rows further
// away; all lines but two share them with other lines.
template <int count>
GAUSSIAN_INLINED void add_products(const std::uint32_t* const* above,
                                   const std::uint32_t* const* below, size_t i,
                                   const __m512i* weights, Numbers* sums) {
  __m512i upper[lines];
  __m512i lower[lines];
#pragma GCC unroll 8
  for (int line = 0; line < lines; ++line) {
    upper[line] = load(above[line] + i);
    lower[line] = load(below[line] + i);
  }
#pragma GCC unroll 4
  for (int k = 0; k < count; ++k) {
#pragma GCC unroll 8
    for (int line = 0; line < lines; ++line) {
      sums[line] = plus_pair_products(sums[line], _mm512_add_epi16(upper[line], lower[line]),
                                      weights[2 * k + line % 2]);
    }
    if (k + 1 == count) break;
#pragma GCC unroll 8
    for (int line = 0; line < lines - 2; ++line) {
      upper[lines - 1 - line] = upper[lines - 3 - line];
      lower[line] = lower[line + 2];
    }
#pragma GCC unroll 2
    for (int line = 0; line < 2; ++line) {
      upper[line] = load(above[line - 2 * (k + 1)] + i);
      lower[lines - 2 + line] = load(below[lines + line + 2 * k] + i);
    }
  }
}

template <int count>
GAUSSIAN_INLINED void add_next_products(const std::uint32_t* const* above,
                                        const std::uint32_t* const* below, size_t i,
                                        const std::uint32_t* weights, Numbers* sums) {
  __m512i vectors_of_weights[2 * count];
#pragma GCC unroll 8
  for (int k = 0; k < 2 * count; ++k)
    vectors_of_weights[k] = everywhere(weights[k]);
  add_products<count>(above, below, i, vectors_of_weights, sums);
}

constexpr int distances_at_once = 4;

// fixed: weights.pair_rows, at most distances_at_once, if their weights are `kept` in registers; 0:
// any number.
template <int fixed>
GAUSSIAN_INLINED void add_all_products(const std::uint32_t* const* pairs, size_t i,
                                       const GaussianTileWeights& weights, const __m512i* kept,
                                       Numbers* sums) {
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

  GAUSSIAN_INLINED void operator()(size_t line, size_t i, Numbers sums) const {
    constexpr static Places places = upper_places(1);
    const auto words = reinterpret_cast<__m512i>(sums);
    const __m512i result =
        _mm512_permutexvar_epi8(load(places.data()), _mm512_add_epi32(words, words));
    std::memcpy(out[line] + i, &result, lanes);
  }
};

// ... to values with seven more bits; ...
struct ToFineNumbers {
  static constexpr int dropped = 15;
  std::int16_t* const* out;

  GAUSSIAN_INLINED void operator()(size_t line, size_t i, Numbers sums) const {
    constexpr static Places places = upper_places(2);
    const __m512i result =
        _mm512_permutexvar_epi8(load(places.data()), reinterpret_cast<__m512i>(sums));
    std::memcpy(out[line] + i, &result, 2 * lanes);
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

  GAUSSIAN_INLINED void operator()(size_t line, size_t i, Numbers sums) const {
    constexpr static Places places = byte_places();
    const __m512i sample = _mm512_cvtepu8_epi32(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(originals[line] + i)));
    const __m512i fine = _mm512_srli_epi32(reinterpret_cast<__m512i>(sums), 16);
    const __m512 difference =
        _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_slli_epi32(sample, 7), fine));
    const __m512 original = _mm512_cvtepi32_ps(sample);
    const __m512 factor = _mm512_set1_ps(amount);
    __m512 sharp;
    if constexpr (has_threshold) {
      const __mmask16 changes =
          _mm512_cmp_ps_mask(_mm512_abs_ps(difference), _mm512_set1_ps(threshold), _CMP_GT_OQ);
      sharp = _mm512_mask3_fmadd_ps(factor, difference, original, changes);
    } else {
      sharp = _mm512_fmadd_ps(factor, difference, original);
    }
    const __m512 saturated = _mm512_min_ps(_mm512_max_ps(sharp, __m512{}), _mm512_set1_ps(255));
    // Floats from 2^23 on are integers, whose low bits are the sum's.
    const __m512 rounded = _mm512_add_ps(saturated, _mm512_set1_ps(0x1p23F));
    const __m512i result =
        _mm512_permutexvar_epi8(load(places.data()), _mm512_castps_si512(rounded));
    std::memcpy(out[line] + i, &result, lanes);
  }
};

template <int fixed, typename Finish>
GAUSSIAN_TARGET void sum_columns(const std::uint32_t* const* pairs, size_t count,
                                 const GaussianTileWeights& weights, Finish finish) {
  __m512i kept[2 * fixed + 1];
  for (size_t k = 0; k < 2 * fixed; ++k)
    kept[k] = everywhere(weights.along_column[k]);
  for (size_t i = 0; i < count; i += lanes) {
    Numbers sums[lines];
#pragma GCC unroll 8
    for (Numbers& each : sums)
      each = Numbers{} + ((1 << Finish::dropped) + (1 << 30));
    add_all_products<fixed>(pairs, i, weights, kept, sums);
#pragma GCC unroll 8
    for (size_t line = 0; line < lines; ++line)
      finish(line, i, sums[line]);
  }
}

template <typename Finish>
void results(const std::uint32_t* const* pairs, size_t count, const GaussianTileWeights& weights,
             const Finish& finish) {
  switch (weights.pair_rows) {
    case 2:
      return sum_columns<2>(pairs, count, weights, finish);
    case 4:
      return sum_columns<4>(pairs, count, weights, finish);
    default:
      return sum_columns<0>(pairs, count, weights, finish);
  }
}

}  // namespace
}  // namespace gaussian_tiles

GaussianTileWeights::GaussianTileWeights(const std::vector<std::int32_t>& weights)
    : pair_rows(static_cast<int>(weights.size() + 1) / 2), along_row(quads_of(weights)) {
  const auto twice = [&](std::size_t distance) {
    return distance < weights.size() ? 2 * weights[distance] : 0;
  };
  for (std::size_t d = 0; d < weights.size(); d += 2) {
    // The sums of the middle row are added to themselves.
    const std::int32_t even = d == 0 ? weights.front() : twice(d);
    along_column.push_back(pair_of(even, twice(d + 1)));
    along_column.push_back(pair_of(twice(d + 1), even));
  }
}

void gaussian_tile_results(const std::uint32_t* const* pairs, std::size_t count,
                           const GaussianTileWeights& weights,
                           const GaussianTileOut<std::uint8_t>& out) {
  gaussian_tiles::results(pairs, count, weights, gaussian_tiles::ToSamples{out.data()});
}

void gaussian_tile_results(const std::uint32_t* const* pairs, std::size_t count,
                           const GaussianTileWeights& weights,
                           const GaussianTileOut<std::int16_t>& out) {
  gaussian_tiles::results(pairs, count, weights, gaussian_tiles::ToFineNumbers{out.data()});
}

void gaussian_tile_results(const std::uint32_t* const* pairs, std::size_t count,
                           const GaussianTileWeights& weights, const GaussianTileMask& mask,
                           const GaussianTileOut<std::uint8_t>& out) {
  const std::uint8_t* const* originals = mask.originals.data();
  if (mask.threshold > 0) {
    gaussian_tiles::results(
        pairs, count, weights,
        gaussian_tiles::ToSharpened<true>{mask.amount, mask.threshold, originals, out.data()});
  } else {
    gaussian_tiles::results(
        pairs, count, weights,
        gaussian_tiles::ToSharpened<false>{mask.amount, 0, originals, out.data()});
  }
}

}  // namespace gpufilter
#endif

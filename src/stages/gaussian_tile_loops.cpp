#include "stages/gaussian_tile_loops.hpp"

#ifdef __x86_64__
#include <cstring>

#include <immintrin.h>

#include "stages/gaussian_pairs.hpp"

// GCC takes what its own intrinsics leave undefined for a mistake.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#define TARGET [[gnu::target("avx512f,avx512bw,avx512vbmi,avx512vnni")]]
#define INLINED TARGET [[gnu::always_inline]] inline

namespace gpufilter {
namespace {

using std::size_t;

// Of vectors of numbers: with __m512i GCC 12 copies each sum twice.
using Numbers [[gnu::vector_size(64)]] = std::int32_t;
constexpr size_t lanes = 16;
constexpr size_t vectors = gaussian_block / lanes;  // of sums

using Places = std::array<std::uint8_t, 64>;

// The places of the bytes that are multiplied for each sum of a vector, from `first` on.
constexpr Places window_places(size_t step, size_t first) {
  Places places{};
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = static_cast<std::uint8_t>(first + i / 4 + i % 4 * step);
  return places;
}
// For each step, for two vectors whose bytes one load has.
constexpr std::array<std::array<Places, 2>, 4> places_by_step{
    {{window_places(1, 0), window_places(1, lanes)},
     {window_places(2, 0), window_places(2, lanes)},
     {window_places(3, 0), window_places(3, lanes)},
     {window_places(4, 0), window_places(4, lanes)}}};

// The low 16 bits of each sum, twice; places within 16 bytes.
constexpr Places low_half_places() {
  Places places{};
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = static_cast<std::uint8_t>(i % 16 / 4 * 4 + i % 2);
  return places;
}
constexpr Places low_halves = low_half_places();

// The lowest byte, or the upper bytes, of each sum, one after the other.
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

INLINED __m512i load(const void* from) {
  return _mm512_loadu_si512(from);
}

INLINED __m512i everywhere(std::uint32_t weights) {
  return _mm512_set1_epi32(static_cast<int>(weights));
}

INLINED Numbers plus_byte_products(Numbers sums, __m512i bytes, __m512i weights) {
  return reinterpret_cast<Numbers>(
      _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sums), bytes, weights));
}

INLINED Numbers plus_pair_products(Numbers sums, __m512i pairs, __m512i weights) {
  return reinterpret_cast<Numbers>(
      _mm512_dpwssd_epi32(reinterpret_cast<__m512i>(sums), pairs, weights));
}

// Once for two vectors, where GCC 12 would load them for each: a load that crosses a line of the
// cache takes as long as two products.
INLINED __m512i load_once(const std::uint8_t* from) {
  __m512i bytes = load(from);
  asm("" : "+v"(bytes));
  return bytes;
}

// What the sums along rows need in registers. fixed: the number of quads, whose weights are kept
// there; 0: any number.
template <size_t fixed>
struct RowRegisters {
  __m512i places[2];
  __m512i high[fixed + 1];
  __m512i low[fixed + 1];
};

template <size_t fixed>
INLINED RowRegisters<fixed> row_registers(size_t step, const std::vector<WeightQuad>& quads) {
  RowRegisters<fixed> kept;
  for (size_t i = 0; i < 2; ++i)
    kept.places[i] = load(places_by_step[step - 1][i].data());
  for (size_t quad = 0; quad < fixed; ++quad) {
    kept.high[quad] = everywhere(quads[quad].high);
    kept.low[quad] = everywhere(quads[quad].low);
  }
  return kept;
}

// The sums of a block along a row, in the order of the numbers.
template <size_t fixed>
INLINED void sum_block(const std::uint8_t* in, size_t step, const std::vector<WeightQuad>& quads,
                       const RowRegisters<fixed>& kept, Numbers* sums) {
  Numbers low[vectors];
#pragma GCC unroll 4
  for (size_t i = 0; i < vectors; ++i) {
    sums[i] = Numbers{} - (1 << 14);
    low[i] = Numbers{} + (1 << 7);
  }
  const size_t count = fixed > 0 ? fixed : quads.size();
  for (size_t quad = 0; quad < count; ++quad, in += 4 * step) {
    const __m512i high_weights = fixed > 0 ? kept.high[quad] : everywhere(quads[quad].high);
    const __m512i low_weights = fixed > 0 ? kept.low[quad] : everywhere(quads[quad].low);
    __m512i loaded{};
#pragma GCC unroll 4
    for (size_t i = 0; i < vectors; ++i) {
      if (i % 2 == 0) loaded = load_once(in + i * lanes);
      const __m512i bytes = _mm512_permutexvar_epi8(kept.places[i % 2], loaded);
      sums[i] = plus_byte_products(sums[i], bytes, high_weights);
      low[i] = plus_byte_products(low[i], bytes, low_weights);
    }
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < vectors; ++i)
    sums[i] += low[i] >> 8;
}

// Completes the pairs of a block, whose other halves are those of the row above.
template <bool odd, size_t fixed>
INLINED void complete_block(const GaussianTileRows& rows, size_t row, size_t at, size_t step,
                            const std::vector<WeightQuad>& quads, const RowRegisters<fixed>& kept,
                            __m512i* pairs) {
  __builtin_prefetch(rows.next[row] + at);
  __builtin_prefetch(rows.results[row] + at, 1);
  Numbers sums[vectors];
  sum_block<fixed>(rows.in[row] + at, step, quads, kept, sums);
  std::uint32_t* out = rows.pairs[row] + at;
#pragma GCC unroll 4
  for (size_t i = 0; i < vectors; ++i) {
    const auto sum = reinterpret_cast<__m512i>(sums[i]);
    pairs[i] =
        odd ? _mm512_mask_shuffle_epi8(pairs[i], 0xccccccccccccccccU, sum, load(low_halves.data()))
            : _mm512_mask_mov_epi16(pairs[i], 0x55555555U, sum);
    _mm512_storeu_si512(out + i * lanes, pairs[i]);
  }
}

// Block by block through all rows, so that the pairs stay in registers.
template <size_t fixed>
TARGET void sum_rows(const GaussianTileRows& rows, size_t count, size_t step,
                     const std::vector<WeightQuad>& quads) {
  const RowRegisters<fixed> kept = row_registers<fixed>(step, quads);
  const auto row_count = static_cast<size_t>(rows.count);
  for (size_t at = 0; at < count; at += gaussian_block) {
    __m512i pairs[vectors];
#pragma GCC unroll 4
    for (size_t i = 0; i < vectors; ++i)
      pairs[i] = load(rows.pairs_before + at + i * lanes);
    size_t row = 0;
    if (rows.begins_odd) complete_block<true>(rows, row++, at, step, quads, kept, pairs);
    for (; row + 1 < row_count; row += 2) {
      complete_block<false>(rows, row, at, step, quads, kept, pairs);
      complete_block<true>(rows, row + 1, at, step, quads, kept, pairs);
    }
    if (row < row_count) complete_block<false>(rows, row, at, step, quads, kept, pairs);
  }
}

constexpr int lines = gaussian_lines;

// Adds the products of `count` neighbouring distances: of the pair rows from `above` and from
// `below` on for the nearest of them. Those of the next distance are two rows further away, which
// are pair rows of other lines for all lines but two.
template <int count>
INLINED void add_products(const std::uint32_t* const* above, const std::uint32_t* const* below,
                          size_t i, const __m512i* weights, Numbers* sums) {
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
INLINED void add_next_products(const std::uint32_t* const* above, const std::uint32_t* const* below,
                               size_t i, const std::uint32_t* weights, Numbers* sums) {
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
INLINED void add_all_products(const std::uint32_t* const* pairs, size_t i,
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

// What is made of the sums along columns, which are twice as large as the definition's, because the
// weights are, and below 2^31: samples; ...
struct ToSamples {
  static constexpr int dropped = 22;
  std::uint8_t* const* out;

  INLINED void operator()(size_t line, size_t i, Numbers sums) const {
    constexpr static Places places = upper_places(1);
    const __m512i result =
        _mm512_permutexvar_epi8(load(places.data()), reinterpret_cast<__m512i>(sums + sums));
    std::memcpy(out[line] + i, &result, lanes);
  }
};

// ... numbers with seven more bits; ...
struct ToFineNumbers {
  static constexpr int dropped = 15;
  std::int16_t* const* out;

  INLINED void operator()(size_t line, size_t i, Numbers sums) const {
    constexpr static Places places = upper_places(2);
    const __m512i result =
        _mm512_permutexvar_epi8(load(places.data()), reinterpret_cast<__m512i>(sums));
    std::memcpy(out[line] + i, &result, 2 * lanes);
  }
};

// ... samples with an unsharp mask, as sharpen_line() says.
template <bool has_threshold>
struct ToSharpened {
  static constexpr int dropped = 15;
  float amount;
  float threshold;
  const std::uint8_t* const* originals;
  std::uint8_t* const* out;

  INLINED void operator()(size_t line, size_t i, Numbers sums) const {
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
    // From 2^23 on floats are integers, which end in the sum's bits.
    const __m512 rounded = _mm512_add_ps(saturated, _mm512_set1_ps(0x1p23F));
    const __m512i result =
        _mm512_permutexvar_epi8(load(places.data()), _mm512_castps_si512(rounded));
    std::memcpy(out[line] + i, &result, lanes);
  }
};

template <int fixed, typename Finish>
TARGET void sum_columns(const std::uint32_t* const* pairs, size_t count,
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

void gaussian_tile_sums(const GaussianTileRows& rows, size_t count, size_t step,
                        const GaussianTileWeights& weights) {
  const std::vector<WeightQuad>& quads = weights.along_row;
  switch (quads.size()) {
    case 2:
      return sum_rows<2>(rows, count, step, quads);
    case 4:
      return sum_rows<4>(rows, count, step, quads);
    default:
      return sum_rows<0>(rows, count, step, quads);
  }
}

void gaussian_tile_results(const std::uint32_t* const* pairs, size_t count,
                           const GaussianTileWeights& weights,
                           const GaussianTileOut<std::uint8_t>& out) {
  results(pairs, count, weights, ToSamples{out.data()});
}

void gaussian_tile_results(const std::uint32_t* const* pairs, size_t count,
                           const GaussianTileWeights& weights,
                           const GaussianTileOut<std::int16_t>& out) {
  results(pairs, count, weights, ToFineNumbers{out.data()});
}

void gaussian_tile_results(const std::uint32_t* const* pairs, size_t count,
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

#undef INLINED
#undef TARGET
#endif

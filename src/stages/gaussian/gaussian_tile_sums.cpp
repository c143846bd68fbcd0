#include "stages/gaussian/gaussian_tile_loops.hpp"
#include "stages/gaussian/gaussian_tile_vectors.hpp"

#ifdef __x86_64__
// GCC warns of undefined values within its own intrinsics.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace gpufilter {
namespace gaussian_tiles {
namespace {

using std::size_t;

// The positions of the bytes that are multiplied for each sum of a vector, from `first` on.
constexpr Places window_places(size_t step, size_t first) {
  Places places{};
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = static_cast<std::uint8_t>(first + i / 4 + i % 4 * step);
  return places;
}
// For each step, for two vectors whose bytes come from one load.
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

GAUSSIAN_INLINED Numbers plus_byte_products(Numbers sums, __m512i bytes, __m512i weights) {
  return reinterpret_cast<Numbers>(
      _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sums), bytes, weights));
}

// Loads once for two vectors, where GCC 12 would load twice: a load across cache lines takes as
// long as two products.
GAUSSIAN_INLINED __m512i load_once(const std::uint8_t* from) {
  __m512i bytes = load(from);
  asm("" : "+v"(bytes));
  return bytes;
}

// The registers for the sums along rows. fixed: the number of quads, whose weights stay in
// registers; 0: any number.
template <size_t fixed>
struct RowRegisters {
  __m512i places[2];
  __m512i high[fixed + 1];
  __m512i low[fixed + 1];
};

template <size_t fixed>
GAUSSIAN_INLINED RowRegisters<fixed> row_registers(size_t step,
                                                   const std::vector<WeightQuad>& quads) {
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
GAUSSIAN_INLINED void sum_block(const std::uint8_t* in, size_t step,
                                const std::vector<WeightQuad>& quads,
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

// Completes the pairs of a block; their other halves belong to the row above.
template <bool odd, size_t fixed>
GAUSSIAN_INLINED void complete_block(const GaussianTileRows& rows, size_t row, size_t at,
                                     size_t step, const std::vector<WeightQuad>& quads,
                                     const RowRegisters<fixed>& kept, __m512i* pairs) {
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
GAUSSIAN_TARGET void sum_rows(const GaussianTileRows& rows, size_t count, size_t step,
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

}  // namespace
}  // namespace gaussian_tiles

void gaussian_tile_sums(const GaussianTileRows& rows, std::size_t count, std::size_t step,
                        const GaussianTileWeights& weights) {
  const std::vector<WeightQuad>& quads = weights.along_row;
  switch (quads.size()) {
    case 2:
      return gaussian_tiles::sum_rows<2>(rows, count, step, quads);
    case 4:
      return gaussian_tiles::sum_rows<4>(rows, count, step, quads);
    default:
      return gaussian_tiles::sum_rows<0>(rows, count, step, quads);
  }
}

}  // namespace gpufilter
#endif

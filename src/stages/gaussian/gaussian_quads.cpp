#include "stages/gaussian/gaussian_quads.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "host/vectors.hpp"
#include "stages/gaussian/gaussian_tile_loops.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr size_t block = gaussian_block;
constexpr size_t vectors = 4;  // of the sums of a block
constexpr size_t sums_of_vector = block / vectors;

// The places of the bytes that are multiplied for the sums of two vectors, in one vector of bytes.
// The sums of each are neighbours in groups, every second of which belongs to the other vector.
using Places = std::array<std::uint8_t, block>;
constexpr std::array<Places, 2> places_of(size_t step, size_t group) {
  std::array<Places, 2> places{};
  for (size_t i = 0; i < block; ++i) {
    const size_t sum = i / 4;
    for (size_t n = 0; n < 2; ++n) {
      places[n][i] = static_cast<std::uint8_t>(sum / group * 2 * group + n * group + sum % group +
                                               i % 4 * step);
    }
  }
  return places;
}
template <size_t group>
constexpr std::array places_by_step{places_of(1, group), places_of(2, group), places_of(3, group),
                                    places_of(4, group)};

// Sums of a block: 256 * high + low. fixed: the number of quads, whose weights are kept in
// registers; 0: any number.
template <InstructionSet set, size_t fixed>
class BlockSums {
 public:
  using Ints = Vector<std::int32_t, set>;
  using Bytes = Vector<std::uint8_t, set>;

  [[gnu::always_inline]] BlockSums(size_t step, const std::array<Places, 2>& places,
                                   const std::vector<WeightQuad>& quads)
      : step_(step), quads_(quads) {
    for (size_t i = 0; i < places.size(); ++i)
      places_[i] = load<Bytes>(places[i].data());
    for (size_t quad = 0; quad < fixed; ++quad) {
      high_[quad] = weights_of(quads[quad].high);
      low_[quad] = weights_of(quads[quad].low);
    }
  }

  // Adds to `high`. The low sums begin with a half of what is dropped.
  [[gnu::always_inline]] void add(const std::uint8_t* in, Ints* high, Ints* low) const {
#pragma GCC unroll 4
    for (size_t i = 0; i < vectors; ++i)
      low[i] = Ints{} + (1 << 7);
    const size_t count = fixed > 0 ? fixed : quads_.size();
    for (size_t quad = 0; quad < count; ++quad, in += 4 * step_) {
      const Ints high_weights = fixed > 0 ? high_[quad] : weights_of(quads_[quad].high);
      const Ints low_weights = fixed > 0 ? low_[quad] : weights_of(quads_[quad].low);
      Bytes loaded{};
#pragma GCC unroll 4
      for (size_t i = 0; i < vectors; ++i) {
        if (i % 2 == 0) loaded = load_once<Bytes>(in + i * sums_of_vector);
        const auto bytes = as<std::int32_t>(permuted<set>(loaded, places_[i % 2]));
        high[i] = plus_fours<set>(high[i], bytes, high_weights);
        low[i] = plus_fours<set>(low[i], bytes, low_weights);
      }
    }
  }

 private:
  [[gnu::always_inline]] static Ints weights_of(std::uint32_t four) {
    return everywhere<Ints>(static_cast<std::int32_t>(four));
  }

  size_t step_;
  const std::vector<WeightQuad>& quads_;
  Bytes places_[2];
  Ints high_[fixed + 1];
  Ints low_[fixed + 1];
};

struct QuadsAlongRow {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const std::uint8_t* in, size_t count, size_t step,
                                         const std::vector<WeightQuad>* quads, std::int16_t* out,
                                         std::int16_t* rest) {
    static_assert(has_permutation<set>);
    using Sums = BlockSums<set, 0>;
    using Ints = typename Sums::Ints;
    // Narrowing interleaves groups of four.
    const Sums sums(step, places_by_step<4>[step - 1], *quads);
    // The last block computes some numbers again.
    for (size_t i = 0; i < count; i += block) {
      const size_t at = std::min(i, count - block);
      Ints high[vectors] = {};
      Ints low[vectors];
      sums.add(in + at, high, low);
      for (size_t v = 0; v < vectors; v += 2) {
        const size_t to = at + v * sums_of_vector;
        store(out + to, narrowed<std::int16_t>(static_cast<Ints>(high[v] + (low[v] >> 8)),
                                               static_cast<Ints>(high[v + 1] + (low[v + 1] >> 8))));
        if (rest == nullptr) continue;
        store(rest + to, narrowed<std::int16_t>(static_cast<Ints>(low[v] & 0xff),
                                                static_cast<Ints>(low[v + 1] & 0xff)));
      }
    }
  }
};

template <size_t fixed>
struct TileSums {
  // Block by block through all rows, so that the pairs stay in registers.
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const GaussianTileRows* rows, size_t count, size_t step,
                                         const std::vector<WeightQuad>* quads) {
    static_assert(has_permutation<set>);
    const BlockSums<set, fixed> sums(step, places_by_step<sums_of_vector>[step - 1], *quads);
    const auto row_count = static_cast<size_t>(rows->count);
    for (size_t at = 0; at < count; at += block) {
      Vector<std::int32_t, set> pairs[vectors];
      get(rows->pairs_before + at, pairs);
      size_t row = 0;
      if (rows->begins_odd) complete<true>(*rows, row++, at, sums, pairs);
      for (; row + 1 < row_count; row += 2) {
        complete<false>(*rows, row, at, sums, pairs);
        complete<true>(*rows, row + 1, at, sums, pairs);
      }
      if (row < row_count) complete<false>(*rows, row, at, sums, pairs);
    }
  }

  template <typename Ints>
  [[gnu::always_inline]] static void get(const std::uint32_t* from, Ints (&to)[vectors]) {
#pragma GCC unroll 4
    for (size_t i = 0; i < vectors; ++i)
      to[i] = load<Ints>(from + i * sums_of_vector);
  }

  // Completes the pairs of a block, whose other halves are those of the row above.
  template <bool odd, typename Sums, typename Ints>
  [[gnu::always_inline]] static void complete(const GaussianTileRows& rows, size_t row, size_t at,
                                              const Sums& block_sums, Ints (&pairs)[vectors]) {
    __builtin_prefetch(rows.next[row] + at);
    __builtin_prefetch(rows.results[row] + at, 1);
    Ints sums[vectors];
    Ints low[vectors];
#pragma GCC unroll 4
    for (Ints& sum : sums)
      sum = Ints{} - (1 << 14);
    block_sums.add(rows.in[row] + at, sums, low);
    std::uint32_t* out = rows.pairs[row] + at;
#pragma GCC unroll 4
    for (size_t i = 0; i < vectors; ++i) {
      pairs[i] = with_halves<odd>(pairs[i], static_cast<Ints>(sums[i] + (low[i] >> 8)));
      store(out + i * sums_of_vector, pairs[i]);
    }
  }
};

}  // namespace

bool takes_gaussian_quads(const std::vector<std::int32_t>& weights) {
  constexpr std::int32_t largest = 127 * 256 + 127;
  return instruction_set() >= InstructionSet::avx512_vbmi && weights.front() <= largest;
}

std::vector<WeightQuad> quads_of(const std::vector<std::int32_t>& weights) {
  const int radius = static_cast<int>(weights.size()) - 1;
  std::vector<WeightQuad> quads(static_cast<size_t>(2 * radius + 4) / 4);
  for (int i = 0; i <= 2 * radius; ++i) {
    const std::int32_t weight = weights[static_cast<size_t>(std::abs(i - radius))];
    const std::int32_t high = (weight + 128) >> 8;
    const int shift = i % 4 * 8;
    WeightQuad& quad = quads[static_cast<size_t>(i / 4)];
    quad.high |= static_cast<std::uint32_t>(high) << shift;
    quad.low |= (static_cast<std::uint32_t>(weight - 256 * high) & 0xffU) << shift;
  }
  return quads;
}

size_t quads_along_row(const std::uint8_t* in, size_t count, size_t step,
                       const std::vector<WeightQuad>& quads, std::int16_t* out,
                       std::int16_t* rest) {
  if (count < block) return 0;
  run_loop_of_sets<QuadsAlongRow, InstructionSet::avx512_vbmi>(in, count, step, &quads, out, rest);
  return count;
}

void gaussian_tile_sums(const GaussianTileRows& rows, size_t count, size_t step,
                        const GaussianTileWeights& weights) {
  constexpr InstructionSet set = InstructionSet::avx512_vbmi;
  const std::vector<WeightQuad>& quads = weights.along_row;
  switch (quads.size()) {
    case 2:
      return run_loop_of_sets<TileSums<2>, set>(&rows, count, step, &quads);
    case 4:
      return run_loop_of_sets<TileSums<4>, set>(&rows, count, step, &quads);
    default:
      return run_loop_of_sets<TileSums<0>, set>(&rows, count, step, &quads);
  }
}

}  // namespace gpufilter

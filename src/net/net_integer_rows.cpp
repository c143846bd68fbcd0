#include "net/net_integer_rows.hpp"

#include "host/vectors.hpp"
#include "net/net_integer_stores.hpp"
#include "net/net_planes.hpp"

namespace gpufilter {
namespace {

// Words of bytes as they are multiplied by words of four weights.
template <InstructionSet set>
class Fours {
 public:
  using Ints = Vector<std::int32_t, set>;

  [[gnu::always_inline]] static Fours of(const Ints& words) {
    Fours fours;
    if constexpr (has_fours<set>) {
      fours.first_ = words;
    } else {
      fours.first_ = words & 0x00ff00ff;
      fours.second_ = as<std::int32_t>(as<std::uint32_t>(words) >> 8) & 0x00ff00ff;
    }
    return fours;
  }

  // Adds the products of four bytes with the four weights to each sum.
  [[gnu::always_inline]] [[nodiscard]] Ints added_to(const Ints& sums,
                                                     std::uint32_t weights) const {
    if constexpr (has_fours<set>)
      return plus_fours<set>(sums, first_, everywhere<Ints>(static_cast<std::int32_t>(weights)));
    const Ints sum = plus_pairs<set>(sums, as<std::int16_t>(first_), pairs(weights, 0));
    return plus_pairs<set>(sum, as<std::int16_t>(second_), pairs(weights, 1));
  }

 private:
  // Two weights as 16-bit integers: 0 and 2, or 1 and 3.
  [[gnu::always_inline]] static auto pairs(std::uint32_t weights, unsigned first) {
    const auto weight = [&](unsigned i) {
      return static_cast<std::uint32_t>(std::int32_t{static_cast<std::int8_t>(weights >> (8 * i))});
    };
    const std::uint32_t pair = (weight(first) & 0xffffU) | weight(first + 2) << 16U;
    return as<std::int16_t>(everywhere<Ints>(static_cast<std::int32_t>(pair)));
  }

  Ints first_;   // all, or the even bytes as 16-bit integers
  Ints second_;  // the odd bytes
};

struct IntegerRowLoop {
  // The blocks of outputs and the vectors of columns whose sums fit into registers.
  template <InstructionSet set>
  static constexpr std::size_t tile_blocks = set >= InstructionSet::avx512_vnni ? 2 : 1;
  template <InstructionSet set>
  static constexpr std::size_t tile_vectors = set >= InstructionSet::avx512_vnni ? 3
                                              : set == InstructionSet::avx512    ? 4
                                                                                 : 2;

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const NetIntegerRows* rows) {
    for (std::size_t y = 0; y < rows->rows; ++y)
      compute_row<set>(rows->row(y));
  }

  template <InstructionSet set>
  [[gnu::always_inline]] static void compute_row(const NetIntegerRow& row) {
    constexpr std::size_t columns = tile_vectors<set> * count_of<Vector<float, set>>;
    static_assert(columns + net_kernel <= net_slack);
    const std::vector<int>& planes = row.fours.first_planes;
    for (std::size_t block = 0; block < planes.size();) {
      const bool both =
          tile_blocks<set> == 2 && block + 1 < planes.size() && planes[block] == planes[block + 1];
      for (std::size_t column = 0; column < row.columns; column += columns) {
        if (both) {
          compute_tile<set, tile_blocks<set>>(row, block, column);
        } else {
          compute_tile<set, 1>(row, block, column);
        }
      }
      block += both ? 2 : 1;
    }
  }

  // `blocks` blocks from `block` on, which read the same planes.
  template <InstructionSet set, std::size_t blocks>
  [[gnu::always_inline]] static void compute_tile(const NetIntegerRow& row, std::size_t block,
                                                  std::size_t column) {
    using Ints = Vector<std::int32_t, set>;
    constexpr std::size_t vectors = tile_vectors<set>;
    constexpr std::size_t lanes = count_of<Ints>;
    Ints sums[4 * blocks][vectors];
#pragma GCC unroll 8
    for (std::size_t o = 0; o < 4 * blocks; ++o) {
#pragma GCC unroll 4
      for (std::size_t v = 0; v < vectors; ++v)
        sums[o][v] = everywhere<Ints>(row.fours.starts[4 * block + o]);
    }
    const std::uint32_t* const in =
        row.in + static_cast<std::size_t>(row.fours.first_planes[block]) * row.in_pitch + column;
    const std::size_t words_of_block = row.fours.words_of_block();
    const std::uint32_t* weights = row.fours.words.data() + block * words_of_block;
    for (const std::ptrdiff_t distance : row.distances) {
      Fours<set> factors[vectors];
#pragma GCC unroll 4
      for (std::size_t v = 0; v < vectors; ++v)
        factors[v] = Fours<set>::of(load<Ints>(in + distance + v * lanes));
#pragma GCC unroll 8
      for (std::size_t o = 0; o < 4 * blocks; ++o) {
        const std::uint32_t weight = weights[o / 4 * words_of_block + o % 4];
#pragma GCC unroll 4
        for (std::size_t v = 0; v < vectors; ++v)
          sums[o][v] = factors[v].added_to(sums[o][v], weight);
      }
      weights += 4;
    }
#pragma GCC unroll 2
    for (std::size_t b = 0; b < blocks; ++b) {
#pragma GCC unroll 4
      for (std::size_t v = 0; v < vectors; ++v)
        store_block(row, block + b, &sums[4 * b][v], vectors, column + v * lanes);
    }
  }
};

}  // namespace

void net_integer_rows(const NetIntegerRows& rows) {
  run_products_loop<IntegerRowLoop>(&rows);
}

}  // namespace gpufilter

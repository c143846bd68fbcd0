#include "net/net_float_rows.hpp"

#include <algorithm>

#include "host/vectors.hpp"
#include "net/net_planes.hpp"

namespace gpufilter {
namespace {

struct FloatRowLoop {
  // Vectors of columns: the sums for this many fit into registers for a block of 8 outputs, and for
  // one of 4.
  template <InstructionSet set>
  static constexpr std::size_t of_eight = set >= InstructionSet::avx512 ? 3 : 1;
  template <InstructionSet set>
  static constexpr std::size_t of_four = set >= InstructionSet::avx512 ? 6
                                         : set == InstructionSet::avx2 ? 3
                                                                       : 2;

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const NetFloatRow* row) {
    // The blocks' inputs for this many columns stay in the first-level cache.
    constexpr std::size_t lanes = count_of<Vector<float, set>>;
    constexpr std::size_t stretch = of_four<set> * lanes;
    static_assert(lanes + net_kernel <= net_slack);
    for (std::size_t begin = 0; begin < row->columns; begin += stretch) {
      const std::size_t end = std::min(begin + stretch, row->columns);
      for (const NetBlocks::Block& block : row->weights.blocks) {
        if (block.width == 1) {
          compute_block<set, 1, of_four<set>>(*row, block, begin, end);
        } else if (block.width == 4) {
          compute_block<set, 4, of_four<set>>(*row, block, begin, end);
        } else {
          compute_block<set, 8, of_eight<set>>(*row, block, begin, end);
        }
      }
    }
  }

  template <InstructionSet set, std::size_t outputs, std::size_t vectors>
  [[gnu::always_inline]] static void compute_block(const NetFloatRow& row,
                                                   const NetBlocks::Block& block, std::size_t begin,
                                                   std::size_t end) {
    std::size_t column = compute_tiles<set, outputs, vectors>(row, block, begin, end);
    if constexpr (vectors > 3) column = compute_tiles<set, outputs, 3>(row, block, column, end);
    if constexpr (vectors > 2) column = compute_tiles<set, outputs, 2>(row, block, column, end);
    if constexpr (vectors > 1) compute_tiles<set, outputs, 1>(row, block, column, end);
  }

  // Computes the columns from `column` on, as far as tiles of this many vectors fill them; returns
  // the next one.
  template <InstructionSet set, std::size_t outputs, std::size_t vectors>
  [[gnu::always_inline]] static std::size_t compute_tiles(const NetFloatRow& row,
                                                          const NetBlocks::Block& block,
                                                          std::size_t column, std::size_t end) {
    constexpr std::size_t lanes = count_of<Vector<float, set>>;
    for (; column + (vectors - 1) * lanes < end; column += vectors * lanes)
      compute_tile<set, outputs, vectors>(row, block, column);
    return column;
  }

  template <InstructionSet set, std::size_t outputs, std::size_t vectors>
  [[gnu::always_inline]] static void compute_tile(const NetFloatRow& row,
                                                  const NetBlocks::Block& block,
                                                  std::size_t column) {
    using Floats = Vector<float, set>;
    constexpr std::size_t lanes = count_of<Floats>;
    const float* weights = row.weights.numbers.data() + block.beginning;
    const float* const in = row.in + block.group * row.group_pitch + column;
    Floats sums[outputs][vectors];
#pragma GCC unroll 8
    for (std::size_t o = 0; o < outputs; ++o) {
#pragma GCC unroll 8
      for (std::size_t v = 0; v < vectors; ++v)
        sums[o][v] = everywhere<Floats>(weights[o]);
    }
    for (const std::ptrdiff_t distance : row.distances) {
      weights += outputs;
      Floats numbers[vectors];
#pragma GCC unroll 8
      for (std::size_t v = 0; v < vectors; ++v)
        numbers[v] = load<Floats>(in + distance + v * lanes);
#pragma GCC unroll 8
      for (std::size_t o = 0; o < outputs; ++o) {
        const auto weight = everywhere<Floats>(weights[o]);
#pragma GCC unroll 8
        for (std::size_t v = 0; v < vectors; ++v)
          sums[o][v] = fused_multiply_add<set>(weight, numbers[v], sums[o][v]);
      }
    }
#pragma GCC unroll 8
    for (std::size_t o = 0; o < outputs; ++o) {
      if (o >= block.count) break;
      float* const to = row.out + (block.first + o) * row.out_pitch + column;
#pragma GCC unroll 8
      for (std::size_t v = 0; v < vectors; ++v)
        store(to + v * lanes, activated(sums[o][v], row.activation, block.first + o));
    }
  }

  template <typename Floats>
  [[gnu::always_inline]] static Floats activated(const Floats& sums,
                                                 const NetActivation& activation,
                                                 std::size_t channel) {
    Floats numbers = sums;
    if (!activation.slopes.empty())
      numbers = numbers < 0 ? numbers * everywhere<Floats>(activation.slopes[channel]) : numbers;
    if (activation.limits) {
      const auto low = everywhere<Floats>(activation.low);
      const auto high = everywhere<Floats>(activation.high);
      numbers = numbers > low ? numbers : low;  // a NaN is not above
      numbers = numbers < high ? numbers : high;
    }
    return numbers;
  }
};

}  // namespace

NetBlocks net_blocks_of(const NetOperation& convolution, int outputs) {
  const auto groups = static_cast<std::size_t>(convolution.groups);
  const std::size_t each = static_cast<std::size_t>(outputs) / groups;
  const std::size_t taps = convolution.weights.size() / static_cast<std::size_t>(outputs);
  const std::size_t widest = instruction_set() >= InstructionSet::avx512 ? 8 : 4;
  NetBlocks result;
  for (std::size_t group = 0; group < groups; ++group) {
    for (std::size_t done = 0; done < each;) {
      const std::size_t left = each - done;
      const std::size_t width = left == 1 ? 1 : left <= 4 ? 4 : widest;
      const NetBlocks::Block block{group * each + done, std::min(left, width), width, group,
                                   result.numbers.size()};
      result.blocks.push_back(block);
      const auto add = [&](const std::vector<float>& numbers, std::size_t pitch,
                           std::size_t place) {
        for (std::size_t o = 0; o < width; ++o)
          result.numbers.push_back(o < block.count ? numbers[(block.first + o) * pitch + place]
                                                   : 0);
      };
      add(convolution.bias, 1, 0);
      for (std::size_t tap = 0; tap < taps; ++tap)
        add(convolution.weights, taps, tap);
      done += block.count;
    }
  }
  return result;
}

void net_float_row(const NetFloatRow& row) {
  run_loop<FloatRowLoop>(&row);
}

}  // namespace gpufilter

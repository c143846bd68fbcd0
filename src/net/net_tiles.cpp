#include "net/net_tiles.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/numbers.hpp"
#include "host/amx.hpp"
#include "net/net_integer_stores.hpp"
#include "net/net_planes.hpp"

#ifdef GPUFILTER_HAS_AMX
#include <immintrin.h>
#endif

namespace gpufilter {
namespace {

using std::size_t;

constexpr size_t side = NetTiles::side;
constexpr size_t block_outputs = 4;
constexpr size_t tile_blocks = side / block_outputs;
// A tile takes as long as these products of words by vectors.
constexpr size_t products_that_pay = 48;

class Packer {
 public:
  Packer(const NetGraph& graph, const NetOperation& operation, const NetFours& fours)
      : operation_(operation),
        fours_(fours),
        input_planes_(static_cast<size_t>(
            graph.values[static_cast<size_t>(operation.inputs.front())].planes())),
        planes_(static_cast<size_t>(fours.planes)),
        kernel_rows_(static_cast<size_t>(operation.kernel_height)),
        kernel_columns_(static_cast<size_t>(operation.kernel_width)) {}

  NetTiles packed() {
    add_tiles();
    add_steps();
    for (const NetTiles::Tile& tile : packed_.tiles) {
      add_weights(tile);
      add_starts(tile);
    }
    return std::move(packed_);
  }

 private:
  // The words of a step: `fresh` rows from this row and plane of the kernel on; earlier rows are
  // shared with the previous step.
  struct Part {
    size_t row;
    size_t column;
    size_t begin;  // planes, from the row's first on
    size_t fresh;  // rows of the tile
    size_t part;   // of weights
  };

  void add_tiles() {
    const std::vector<int>& first_planes = fours_.first_planes;
    for (size_t block = 0; block < first_planes.size();) {
      size_t blocks = 1;
      while (blocks < tile_blocks && block + blocks < first_planes.size() &&
             first_planes[block + blocks] == first_planes[block])
        ++blocks;
      packed_.tiles.push_back({block, blocks});
      packed_.outputs = std::max(packed_.outputs, blocks * block_outputs);
      block += blocks;
    }
  }

  // Rows of the input that follow each other at the same distance are divided into equal tiles; the
  // last one begins so early that it ends with the last row, with weights of 0 for rows of the tile
  // before.
  void add_steps() {
    // If all planes are read, the next row's planes follow.
    const bool joined = planes_ == input_planes_;
    const size_t length = joined ? kernel_rows_ * planes_ : planes_;
    const size_t tiles = divided_up(length, side);
    packed_.rows = divided_up(length, tiles);
    for (size_t row = 0; row < (joined ? 1 : kernel_rows_); ++row) {
      for (size_t column = 0; column < kernel_columns_; ++column) {
        for (size_t tile = 0; tile < tiles; ++tile) {
          const size_t begin = std::min(tile * packed_.rows, length - packed_.rows);
          for (size_t part = 0; part < static_cast<size_t>(fours_.parts); ++part) {
            packed_.steps.push_back({row * input_planes_ + begin, column});
            parts_.push_back(
                {row, column, begin, begin + packed_.rows - tile * packed_.rows, part});
          }
        }
      }
    }
  }

  void add_weights(const NetTiles::Tile& tile) {
    for (const Part& part : parts_) {
      const size_t at = packed_.weights.size();
      packed_.weights.resize(at + side);
      for (size_t r = packed_.rows - part.fresh; r < packed_.rows; ++r) {
        const size_t row = part.row + (part.begin + r) / planes_;
        const size_t plane = (part.begin + r) % planes_;
        for (size_t o = 0; o < tile.blocks * block_outputs; ++o) {
          const size_t tap = row * kernel_columns_ + part.column;
          const size_t index =
              ((tap * planes_ + plane) * static_cast<size_t>(fours_.parts) + part.part);
          packed_.weights[at + o].words[r] =
              fours_.words[(tile.first_block + o / block_outputs) * fours_.words_of_block() +
                           index * block_outputs + o % block_outputs];
        }
      }
    }
  }

  void add_starts(const NetTiles::Tile& tile) {
    for (size_t o = 0; o < side; ++o) {
      NetTiles::Row row;
      if (o < tile.blocks * block_outputs) {
        row.words.fill(
            static_cast<std::uint32_t>(fours_.starts[tile.first_block * block_outputs + o]));
      }
      packed_.starts.push_back(row);
    }
  }

  const NetOperation& operation_;
  const NetFours& fours_;
  size_t input_planes_;
  size_t planes_;
  size_t kernel_rows_;
  size_t kernel_columns_;
  NetTiles packed_;
  std::vector<Part> parts_;
};

}  // namespace

bool NetTiles::pay() const {
  return rows * outputs >= products_that_pay;
}

NetTiles net_tiles(const NetGraph& graph, const NetOperation& operation, const NetFours& fours) {
  return Packer(graph, operation, fours).packed();
}

#ifdef GPUFILTER_HAS_AMX
namespace {

#define TARGET [[gnu::target("avx512f,avx512bw,amx-tile,amx-int8")]]
using Ints = Vector<std::int32_t, InstructionSet::avx512>;

constexpr std::size_t tile_pitch = sizeof(NetTiles::Row);
static_assert(side == count_of<Ints>);

// Tiles 0 to 3 are sums, 4 and 5 weights, 6 and 7 words of the input. Tiles are named by literals.
void configure(const NetTiles& tiles) {
  const auto outputs = static_cast<std::uint8_t>(tiles.outputs);
  const auto rows = static_cast<std::uint8_t>(tiles.rows);
  const AmxShape sums{outputs, tile_pitch};
  const AmxShape weights{outputs, static_cast<std::uint16_t>(sizeof(std::uint32_t) * rows)};
  const AmxShape input{rows, tile_pitch};
  configure_amx({sums, sums, sums, sums, weights, weights, input, input});
}

class TileRow {
 public:
  TileRow(const NetTiles& tiles, const NetIntegerRow& row)
      : tiles_(tiles), row_(row), in_pitch_(row.in_pitch * sizeof(std::uint32_t)) {}

  TARGET void compute() const {
    const std::size_t count = tiles_.tiles.size();
    for (std::size_t tile = 0; tile < count;) {
      const bool pair = tile + 1 < count && first_plane(tile) == first_plane(tile + 1);
      if (pair) {
        for (std::size_t column = 0; column < row_.columns; column += 2 * side)
          compute_pair(tile, column);
      } else {
        for (std::size_t column = 0; column < row_.columns; column += 4 * side)
          compute_one(tile, column);
      }
      tile += pair ? 2 : 1;
    }
  }

 private:
  static_assert(4 * side + net_kernel <= net_slack);

  [[nodiscard]] std::size_t first_plane(std::size_t tile) const {
    return static_cast<std::size_t>(row_.fours.first_planes[tiles_.tiles[tile].first_block]);
  }
  [[nodiscard]] const std::uint32_t* in(std::size_t tile, std::size_t column) const {
    return row_.in + first_plane(tile) * row_.in_pitch + column;
  }
  [[nodiscard]] const NetTiles::Row* weights(std::size_t tile) const {
    return tiles_.weights.data() + tile * tiles_.steps.size() * side;
  }
  [[nodiscard]] const NetTiles::Row* starts(std::size_t tile) const {
    return tiles_.starts.data() + tile * side;
  }
  [[nodiscard]] std::size_t distance(const NetTiles::Step& step) const {
    return step.planes * row_.in_pitch + step.column;
  }

  // Two tiles of outputs in two of columns.
  TARGET void compute_pair(std::size_t tile, std::size_t column) const {
    const std::uint32_t* const first = in(tile, column);
    const NetTiles::Row* upper = weights(tile);
    const NetTiles::Row* lower = weights(tile + 1);
    _tile_loadd(0, starts(tile), tile_pitch);
    _tile_loadd(1, starts(tile), tile_pitch);
    _tile_loadd(2, starts(tile + 1), tile_pitch);
    _tile_loadd(3, starts(tile + 1), tile_pitch);
    for (const NetTiles::Step& step : tiles_.steps) {
      const std::uint32_t* const from = first + distance(step);
      _tile_loadd(4, upper, tile_pitch);
      _tile_loadd(6, from, in_pitch_);
      _tile_loadd(7, from + side, in_pitch_);
      _tile_loadd(5, lower, tile_pitch);
      _tile_dpbsud(0, 4, 6);
      _tile_dpbsud(1, 4, 7);
      _tile_dpbsud(2, 5, 6);
      _tile_dpbsud(3, 5, 7);
      upper += side;
      lower += side;
    }
    constexpr std::size_t vectors = 2;
    constexpr std::size_t pitch = vectors * sizeof(Ints);
    Ints sums[2 * side][vectors];
    _tile_stored(0, &sums[0][0], pitch);
    _tile_stored(1, &sums[0][1], pitch);
    _tile_stored(2, &sums[side][0], pitch);
    _tile_stored(3, &sums[side][1], pitch);
    store_tile<vectors>(tile, sums, column);
    store_tile<vectors>(tile + 1, sums + side, column);
  }

  // Computes one tile of outputs for four tiles of columns.
  TARGET void compute_one(std::size_t tile, std::size_t column) const {
    const std::uint32_t* const first = in(tile, column);
    const NetTiles::Row* row_of_weights = weights(tile);
    _tile_loadd(0, starts(tile), tile_pitch);
    _tile_loadd(1, starts(tile), tile_pitch);
    _tile_loadd(2, starts(tile), tile_pitch);
    _tile_loadd(3, starts(tile), tile_pitch);
    for (const NetTiles::Step& step : tiles_.steps) {
      const std::uint32_t* const from = first + distance(step);
      _tile_loadd(4, row_of_weights, tile_pitch);
      _tile_loadd(6, from, in_pitch_);
      _tile_loadd(7, from + side, in_pitch_);
      _tile_dpbsud(0, 4, 6);
      _tile_dpbsud(1, 4, 7);
      _tile_loadd(6, from + 2 * side, in_pitch_);
      _tile_loadd(7, from + 3 * side, in_pitch_);
      _tile_dpbsud(2, 4, 6);
      _tile_dpbsud(3, 4, 7);
      row_of_weights += side;
    }
    constexpr std::size_t vectors = 4;
    constexpr std::size_t pitch = vectors * sizeof(Ints);
    Ints sums[side][vectors];
    _tile_stored(0, &sums[0][0], pitch);
    _tile_stored(1, &sums[0][1], pitch);
    _tile_stored(2, &sums[0][2], pitch);
    _tile_stored(3, &sums[0][3], pitch);
    store_tile<vectors>(tile, sums, column);
  }

  template <std::size_t vectors>
  TARGET void store_tile(std::size_t tile, const Ints (*sums)[vectors], std::size_t column) const {
    const auto [first_block, blocks] = tiles_.tiles[tile];
    for (std::size_t b = 0; b < blocks; ++b) {
      for (std::size_t v = 0; v < vectors; ++v)
        store_block(row_, first_block + b, &sums[4 * b][v], vectors, column + v * side);
    }
  }

  const NetTiles& tiles_;
  const NetIntegerRow& row_;
  std::size_t in_pitch_;  // bytes
};

}  // namespace

void net_tile_rows(const NetTiles& tiles, const NetIntegerRows& rows) {
  configure(tiles);
  for (std::size_t y = 0; y < rows.rows; ++y) {
    const NetIntegerRow row = rows.row(y);
    TileRow(tiles, row).compute();
  }
  release_amx();
}

#else

void net_tile_rows(const NetTiles& /*tiles*/, const NetIntegerRows& /*rows*/) {
  throw std::logic_error("this program has no AMX");
}
#endif

}  // namespace gpufilter

// The weights of a convolution of quantized values as AMX multiplies them: a tile of weights, of up
// to 16 outputs and 16 words of the input, by a tile of these words in 16 neighbouring columns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/net_integer_rows.hpp"

namespace gpufilter {

struct NetTiles {
  static constexpr std::size_t side = 16;  // rows of a tile, and words in a row

  // The tile of up to four blocks of NetFours, which read the same planes.
  struct Tile {
    std::size_t first_block;
    std::size_t blocks;
  };
  // A tile of the input: its first row is the word `column` columns and `planes` planes after the
  // first tap, in the block's first plane; each further row is a plane later. Row y + 1 of a value
  // is all its planes after row y.
  struct Step {
    std::size_t planes;
    std::size_t column;
  };

  // A row of a tile, in a line of the cache.
  struct alignas(64) Row {
    std::array<std::uint32_t, side> words = {};
  };

  std::size_t rows = 0;     // of each tile of the input
  std::size_t outputs = 0;  // of each tile of weights
  std::vector<Tile> tiles = {};
  std::vector<Step> steps = {};  // of each tile
  // For each tile and step: of each of `side` outputs the words of weights; 0 beyond `rows`,
  // `outputs` and those that exist.
  std::vector<Row> weights = {};
  // For each tile: of each of `side` outputs what its sums begin with, `side` times.
  std::vector<Row> starts = {};

  // Whether tiles are full enough to be faster than vectors.
  [[nodiscard]] bool pay() const;
};

// `fours`: of the same operation.
[[nodiscard]] NetTiles net_tiles(const NetGraph& graph, const NetOperation& operation,
                                 const NetFours& fours);

// Computes what net_integer_rows() does, with the same bits, where amx_permitted(). Distances are
// not needed.
void net_tile_rows(const NetTiles& tiles, const NetIntegerRows& rows);

}  // namespace gpufilter

// The inner loops of --gaussian in both directions at once, for 8-bit samples and AVX-512 VNNI.
//
// The sums along a row, (128 + sum of weight * x) >> 8, less 2^14, have 16 bits. They are kept in
// pairs of neighbouring rows: for each number, pair row y holds the sums of the rows y and y + 1,
// that of the even row in the low 16 bits. So the pair rows y - 1 and y hold the sums of row y in
// the same half of a pair, and those of the rows above and below it in the other half. The same is
// true for the distances 2k and 2k + 1 in the pair rows y - 2k - 1 and y + 2k. These two are added,
// and one instruction multiplies the sums of four rows by their weights: half of the products, and
// nothing is interleaved.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stages/gaussian/gaussian_quads.hpp"

namespace gpufilter {

// The weights of a window whose radius is above 0, in the forms that the loops take.
struct GaussianTileWeights {
  explicit GaussianTileWeights(const std::vector<std::int32_t>& weights);

  // How many other pair rows each pair row is added to. So a window reaches 2 * pair_rows - 1 rows
  // up and down; the outermost have the weight 0 if its radius is even.
  int pair_rows;
  std::vector<WeightQuad> along_row;
  // For each of these, for pairs around an even row and around an odd row: twice the weights.
  std::vector<std::uint32_t> along_column;
};

// Numbers are computed in blocks of this size.
inline constexpr std::size_t gaussian_block = 64;
// Rows that are computed together.
inline constexpr int gaussian_lines = 8;

// Neighbouring rows of a tile.
struct GaussianTileRows {
  template <typename Pointer>
  using OfEach = std::array<Pointer, gaussian_lines>;

  int count = 0;
  bool begins_odd = false;
  // The first number of the first window; quads_read_after bytes after the last may be read.
  OfEach<const std::uint8_t*> in{};
  // To be prefetched: samples that are read, and results that are written, later.
  OfEach<const std::uint8_t*> next{};
  OfEach<const std::uint8_t*> results{};
  OfEach<std::uint32_t*> pairs{};               // the pair rows that each completes
  const std::uint32_t* pairs_before = nullptr;  // the pair row above these
};

// Sums along rows of `count` numbers, whole blocks. `step` is 1 to 4.
void gaussian_tile_sums(const GaussianTileRows& rows, std::size_t count, std::size_t step,
                        const GaussianTileWeights& weights);

// Where the numbers of each row go.
template <typename Out>
using GaussianTileOut = std::array<Out*, gaussian_lines>;

// An unsharp mask, as sharpen_line() applies it to each channel.
struct GaussianTileMask {
  float amount = 0;     // divided by 128
  float threshold = 0;  // times 128
  std::array<const std::uint8_t*, gaussian_lines> originals{};
};

// Sums along columns of `count` numbers, whole blocks, for gaussian_lines rows, the first of which
// is even. `pairs` are the pair rows from 2 * pair_rows - 1 above the first row on. Samples:
//   out = (2^21 + sum of weight * sum along a row) >> 22
// Results with seven more bits: (2^14 + ...) >> 15. Or samples of which `mask` takes the latter.
void gaussian_tile_results(const std::uint32_t* const* pairs, std::size_t count,
                           const GaussianTileWeights& weights,
                           const GaussianTileOut<std::uint8_t>& out);
void gaussian_tile_results(const std::uint32_t* const* pairs, std::size_t count,
                           const GaussianTileWeights& weights,
                           const GaussianTileOut<std::int16_t>& out);
void gaussian_tile_results(const std::uint32_t* const* pairs, std::size_t count,
                           const GaussianTileWeights& weights, const GaussianTileMask& mask,
                           const GaussianTileOut<std::uint8_t>& out);

}  // namespace gpufilter

#include "net/net_tiles.hpp"

#include <algorithm>
#include <utility>

#include "base/division.hpp"

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
  // The words of a step: from this row and plane of the kernel on, those of `fresh` rows; the rows
  // before belong to the step before, too.
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

}  // namespace gpufilter

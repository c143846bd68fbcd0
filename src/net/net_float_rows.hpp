// Convolutions of single-precision values on the processor.
#pragma once

#include <cstddef>
#include <vector>

#include "net/graph/net_graph.hpp"

namespace gpufilter {

// The weights of a convolution in the order in which the processor reads them.
struct NetBlocks {
  // Outputs of one group that are computed together. The last block of a group may have some that
  // do not exist.
  struct Block {
    std::size_t first;  // output
    std::size_t count;
    std::size_t width;      // with those that do not exist: 8, 4 or 1
    std::size_t group;      // of inputs
    std::size_t beginning;  // in `numbers`
  };
  std::vector<Block> blocks = {};
  // For each block its biases, then for each tap its weights.
  std::vector<float> numbers = {};
};

// For the instruction set in use.
[[nodiscard]] NetBlocks net_blocks_of(const NetOperation& convolution, int outputs);

struct NetFloatRow {
  const NetBlocks& weights;
  const NetActivation& activation;
  // Distances from the first tap of a column in a group's first channel, in the chain's order.
  const std::vector<std::ptrdiff_t>& distances;
  const float* in;          // the first tap of the first column, in channel 0
  std::size_t group_pitch;  // from the first channel of a group to the next group's
  float* out;               // the first column of channel 0
  std::size_t out_pitch;    // from a channel to the next
  std::size_t columns;
};

// Computes a row of results with the instruction set in use. Up to net_slack columns after them may
// be overwritten.
void net_float_row(const NetFloatRow& row);

}  // namespace gpufilter

// The weights of a convolution of quantized values as processors and devices multiply them: the
// four channels of a word at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/graph/net_graph.hpp"

namespace gpufilter {

// Outputs are in blocks of four, which read the same planes; the last block may be padded with
// unused outputs.
struct NetFours {
  int planes = 1;  // that each block reads
  int parts = 1;   // of weights: weights of more than 8 bits are sums of several
  std::vector<int> first_planes = {};  // for each block
  // For each block, kernel row, kernel column, plane and part: of each of the four outputs a word
  // of four weights from -128 to 127.
  std::vector<std::uint32_t> words = {};
  // For each output, the initial value of the sum of products with the input's bytes, which
  // corrects it to the sum for the numbers that the bytes mean.
  std::vector<std::int32_t> starts = {};

  [[nodiscard]] std::size_t words_of_block() const { return words.size() / first_planes.size(); }
};

// For an operation with `integer`.
[[nodiscard]] NetFours net_fours(const NetGraph& graph, const NetOperation& operation);

}  // namespace gpufilter

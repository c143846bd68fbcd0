// How the values of a network lie in the memory of a device while a block of its result is
// computed.
#pragma once

#include <cstdint>
#include <vector>

#include "net/net_regions.hpp"

namespace gpufilter {

// A rectangle of pixels of the result.
struct NetBlock {
  RowRange columns;
  RowRange rows;
};

// Where a value is: its planes, one after the other, from the number `begin` on. The names and the
// order are those of the parameters VALUE of kernels/net/net_values.cl.
struct NetPlace {
  std::int32_t begin = 0;
  std::int32_t left = 0;
  std::int32_t top = 0;
  std::int32_t columns = 0;
  std::int32_t rows = 0;
};

// Where the planes of each value begin while blocks of at most this size are computed; values that
// are no longer needed make room for others.
[[nodiscard]] std::vector<std::int32_t> net_beginnings(const NetGraph& graph, ImageSize largest);

// The places of the values for this block, of a picture of this size.
[[nodiscard]] std::vector<NetPlace> net_places(const NetGraph& graph,
                                               const std::vector<std::int32_t>& beginnings,
                                               const NetBlock& block, ImageSize size,
                                               Border border);

// The blocks of at most `largest` pixels that cover the rows of a result `width` wide.
[[nodiscard]] std::vector<NetBlock> net_blocks(const RowRange& rows, int width, ImageSize largest);

// The largest block, in pixels of the result, whose values take at most that many numbers; at least
// one of minimum size.
[[nodiscard]] ImageSize net_block_size(const NetGraph& graph, ImageSize picture,
                                       std::uint64_t numbers);

// Numbers that the values of any block of at most this size take.
[[nodiscard]] std::uint64_t net_block_numbers(const NetGraph& graph, ImageSize block);

}  // namespace gpufilter

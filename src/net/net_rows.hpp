// A network on the processor: its operations as loops over rows, down strips of columns.
#pragma once

#include <cstdint>
#include <span>

#include "image/rows.hpp"
#include "net/graph/net_graph.hpp"
#include "net/net_float_rows.hpp"
#include "net/net_fours.hpp"
#include "net/net_planes.hpp"
#include "net/net_tiles.hpp"

namespace gpufilter {

// The weights of an operation as the processor multiplies them; empty if it is not a convolution of
// such values.
struct NetWeights {
  NetBlocks blocks = {};  // of single-precision values
  NetFours fours = {};    // of quantized values
  NetTiles tiles = {};    // the same for AMX; empty if it is not to be used
};
[[nodiscard]] NetWeights net_weights(const NetGraph& graph, const NetOperation& operation);

// Computes `columns` of `rows` of the operation's result. Up to net_slack columns after them may be
// overwritten.
void net_operation_rows(const NetOperation& operation, const NetWeights& weights,
                        std::span<const NetPlanes* const> inputs, NetPlanes& output,
                        const RowRange& rows, const RowRange& columns);

// Fills `target` from `source`, which covers the rows from net_spans(), and from `base`. `size` is
// the source picture's.
void net_rows(const NetGraph& graph, const NetUse& use, const ConstRows& source,
              const ConstRows& base, const MutableRows& target, ImageSize size);

// Bytes that one call of it takes for a picture of this size.
[[nodiscard]] std::uint64_t net_rows_memory(const NetGraph& graph, ImageSize size);

// The rows of the result that are worth a call: the rows around them are computed too.
[[nodiscard]] int net_suitable_rows(const NetGraph& graph, ImageSize size);

}  // namespace gpufilter

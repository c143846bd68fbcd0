// The operations of a network as loops over rows.
#pragma once

#include <span>

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

// Computes `columns` of `rows` of the operation's result. Up to net_slack columns after them may
// get any numbers.
void net_operation_rows(const NetOperation& operation, const NetWeights& weights,
                        std::span<const NetPlanes* const> inputs, NetPlanes& output,
                        const RowRange& rows, const RowRange& columns);

}  // namespace gpufilter

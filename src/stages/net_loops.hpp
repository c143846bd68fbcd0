// The operations of a network as loops over rows.
#pragma once

#include <span>

#include "stages/net_fours.hpp"
#include "stages/net_planes.hpp"

namespace gpufilter {

// Computes `columns` of `rows` of the operation's result. `fours`: its weights, if it is a
// convolution of quantized values. Up to net_slack columns after them may get any numbers.
void net_operation_rows(const NetOperation& operation, const NetFours& fours,
                        std::span<const NetPlanes* const> inputs, NetPlanes& output,
                        const RowRange& rows, const RowRange& columns);

}  // namespace gpufilter

// Operations of networks on the processor that move numbers, or gather them over a window or the
// whole picture.
#pragma once

#include <span>

#include "image/rows.hpp"
#include "net/graph/net_graph.hpp"
#include "net/net_planes.hpp"

namespace gpufilter {

void net_move_rows(const NetOperation& operation, std::span<const NetPlanes* const> inputs,
                   NetPlanes& output, const RowRange& rows, const RowRange& columns);

}  // namespace gpufilter

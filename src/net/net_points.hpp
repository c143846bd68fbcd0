// Operations of networks on the processor that compute a number from those at the same place.
#pragma once

#include "image/rows.hpp"
#include "net/graph/net_graph.hpp"
#include "net/net_planes.hpp"

namespace gpufilter {

// `second` is read by operations on two values: it may have one channel for all, or be one position
// for the whole picture.
void net_point_rows(const NetOperation& operation, const NetPlanes& first, const NetPlanes& second,
                    NetPlanes& output, const RowRange& rows, const RowRange& columns);

}  // namespace gpufilter

// Attention within windows on the processor.
#pragma once

#include "image/rows.hpp"
#include "net/graph/net_graph.hpp"
#include "net/net_planes.hpp"

namespace gpufilter {

struct NetAttended {
  const NetPlanes& queries;
  const NetPlanes& keys;
  const NetPlanes& values;
};

void net_attention_rows(const NetOperation& operation, const NetAttended& from, NetPlanes& output,
                        const RowRange& rows, const RowRange& columns);

}  // namespace gpufilter

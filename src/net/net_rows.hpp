// A network on the processor.
#pragma once

#include <cstdint>

#include "image/rows.hpp"
#include "net/graph/net_graph.hpp"
#include "net/net_pixels.hpp"

namespace gpufilter {

// Fills `target` from `source`, which covers the rows that net_spans() asks for, and from `base`.
// `size` is the source picture's.
void net_rows(const NetGraph& graph, const NetUse& use, const ConstRows& source,
              const ConstRows& base, const MutableRows& target, ImageSize size);

// Bytes that one call of it takes for a picture of this width.
[[nodiscard]] std::uint64_t net_rows_memory(const NetGraph& graph, int width);

// The rows of the result that are worth a call: the rows around them are computed too.
[[nodiscard]] int net_suitable_rows(const NetGraph& graph);

}  // namespace gpufilter

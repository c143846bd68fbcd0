// Which parts of a network's values a part of its result needs. Rows and columns are treated alike.
#pragma once

#include <vector>

#include "image/rows.hpp"
#include "net/graph/net_graph.hpp"
#include "stage/border.hpp"

namespace gpufilter {

enum class NetAxis { columns, rows };

// For each value, the positions that `wanted` positions of the result need, with those outside of
// the picture that windows read, and those that these repeat. `length` is the picture's. With
// Border::wrap the picture repeats and no position is outside.
[[nodiscard]] std::vector<RowRange> net_spans(const NetGraph& graph, NetAxis axis,
                                              const RowRange& wanted, int length, Border border);

// The positions of a value's span that are computed; the others follow from the border.
[[nodiscard]] RowRange computed_span(const NetValue& value, const RowRange& span, int length,
                                     Border border);

// Positions of the picture besides its own that a position of the result reads, on the longer side.
[[nodiscard]] int net_radius(const NetGraph& graph);

// i / n, rounded down, for positions before 0 too.
[[nodiscard]] constexpr int floor_divide(int i, int n) {
  return i >= 0 ? i / n : -((-i + n - 1) / n);
}

}  // namespace gpufilter

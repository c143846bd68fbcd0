// Changes of a network that change no bit of its result.
#pragma once

#include "net/graph/net_graph.hpp"

namespace gpufilter {

// Removes operations that the output does not need, and lets convolutions do the activations that
// follow them.
void simplify(NetGraph& graph);

}  // namespace gpufilter

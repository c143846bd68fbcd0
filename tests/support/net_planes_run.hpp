// Networks on the processor with numbers in place of a picture.
#pragma once

#include "net/graph/net_graph.hpp"
#include "support/naive_net.hpp"

namespace gpufilter::test {

// The result for `input`, with zeros around it. All of it at once, without strips and bands.
[[nodiscard]] NaivePlanes run_planes(const NetGraph& graph, const NaivePlanes& input);

}  // namespace gpufilter::test

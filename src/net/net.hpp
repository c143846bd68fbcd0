// --net: a convolutional network from an ONNX file.
#pragma once

#include "net/graph/net_graph.hpp"
#include "net/net_planes.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

struct NetParameters {
  NetUse use = {};
  int enlarge = 1;  // pictures are enlarged by this factor before the network
  // Bytes on a device for its values; overrides what suits. For tests.
  std::uint64_t scratch = 0;
};

// Throws UsageError if the network does not suit the parameters.
[[nodiscard]] std::shared_ptr<const Stage> make_net(NetGraph graph,
                                                    const NetParameters& parameters);

}  // namespace gpufilter

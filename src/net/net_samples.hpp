// Small networks for `gpufilter verify` and `tune`.
#pragma once

#include <string>
#include <vector>

#include "net/graph/net_graph.hpp"
#include "net/net_pixels.hpp"

namespace gpufilter {

struct NetSample {
  std::string name;
  NetGraph graph;
  NetUse use;
};

// Together they have every operation, input and border.
[[nodiscard]] std::vector<NetSample> net_samples();

}  // namespace gpufilter

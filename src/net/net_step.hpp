// --net for pictures of one shape.
#pragma once

#include <cstdint>
#include <memory>

#include "net/graph/net_graph.hpp"
#include "net/net_pixels.hpp"
#include "stage/step.hpp"

namespace gpufilter {

// `scratch`: bytes for its values on a device; 0: what suits.
[[nodiscard]] std::shared_ptr<const Step> make_net_step(std::shared_ptr<const NetGraph> graph,
                                                        const NetUse& use,
                                                        const PictureShape& input,
                                                        std::uint64_t scratch);

}  // namespace gpufilter

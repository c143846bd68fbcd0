// A network on a device.
#pragma once

#include <cstdint>
#include <memory>

#include "net/net_step.hpp"

namespace gpufilter {

struct NetShapes {
  PictureShape source;
  PictureShape target;
};

// Bytes of memory for the values of a block of the picture: what suits, at most `limit` if that is
// not 0, at least those of the smallest block.
[[nodiscard]] std::uint64_t net_pass_memory(const NetGraph& graph, ImageSize size,
                                            std::uint64_t limit, const DeviceInfo& device);

// Throws DeviceError.
[[nodiscard]] std::unique_ptr<DevicePass> make_net_pass(Session& session,
                                                        std::shared_ptr<const NetGraph> graph,
                                                        const NetUse& use, const NetBase& base,
                                                        const NetShapes& shapes,
                                                        std::uint64_t limit);

}  // namespace gpufilter

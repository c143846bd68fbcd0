// --mlp on a device with matrix products: pixels become a matrix, each layer is a product.
#pragma once

#include <memory>

#include "net/pixel/mlp.hpp"

namespace gpufilter {

struct MlpFormats {
  PixelFormat source;
  PixelFormat target;
};

// Bytes of the numbers between two layers: the inputs and the outputs of a layer.
[[nodiscard]] std::uint64_t mlp_block_bytes(const Network& network, const MlpBlock& block,
                                            ImageSize size);

// Builds the kernels for pictures of this size. Throws DeviceError.
[[nodiscard]] std::unique_ptr<DevicePass> make_mlp_pass(Session& session,
                                                        std::shared_ptr<const Network> network,
                                                        const MlpBlock& block, ImageSize size,
                                                        const MlpFormats& formats);

}  // namespace gpufilter

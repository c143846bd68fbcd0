// A network as OpenCL C of its own: widths, weights and activations are literals.
#pragma once

#include "stages/network.hpp"
#include "stages/pixel_function.hpp"

namespace gpufilter {

// What a kernel of its own means for a network.
struct NetworkSize {
  int numbers = 0;        // alive at a time for one pixel
  double operations = 0;  // multiplications and additions for one pixel
};
[[nodiscard]] NetworkSize network_size(const Network& network);

// All layers for a run of pixels of `source`, in registers. Each output is the chain of fused
// multiply-adds of mlp_rows(), from the bias on, k ascending. Of two layers, the first need not
// stand whole: each of its outputs is added to all sums of the second as soon as it is known.
[[nodiscard]] PixelFunction network_function(const Network& network, const PixelFormat& source);

}  // namespace gpufilter

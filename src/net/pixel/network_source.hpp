// A network as OpenCL C of its own: widths, weights and activations are literals.
#pragma once

#include "net/pixel/network.hpp"
#include "stage/device/pixel_function.hpp"

namespace gpufilter {

// The cost of a network in a kernel of its own.
struct NetworkSize {
  int numbers = 0;        // alive at a time for one pixel
  double operations = 0;  // multiplications and additions for one pixel
};
[[nodiscard]] NetworkSize network_size(const Network& network);

// All layers for a run of pixels of `source`, in registers. Each output is the same chain of fused
// multiply-adds as in mlp_rows(): from the bias on, k ascending. The outputs of a layer need not
// all be kept: each one can be added to all sums of the next layer as soon as it is known.
[[nodiscard]] PixelFunction network_function(const Network& network, const PixelFormat& source);

}  // namespace gpufilter

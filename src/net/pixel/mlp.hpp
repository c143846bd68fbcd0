// --mlp: applies a small network to every pixel.
#pragma once

#include <cstdint>

#include "image/rows.hpp"
#include "net/pixel/network.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

// How much a device computes at a time. No size changes the result.
struct MlpBlock {
  int pixels = 0;  // the maximum for matrix products; 0: a number that suits the device
  // Memory for the numbers between two layers of matrix products on blocks: enough work for a GPU.
  std::uint64_t bytes = std::uint64_t{128} << 20U;
};

// x is a pixel's samples times 1 / maximum, in single precision; grey counts as equal red, green
// and blue, a missing alpha as the maximum. The outputs are multiplied by the maximum, rounded half
// to even and saturated, NaN to 0. Three outputs leave alpha as it is, four make it. Throws
// UsageError if the layers do not form a network.
[[nodiscard]] std::shared_ptr<const Stage> make_mlp(Network network, MlpBlock block = {});

// Fills `target` from the same rows of `source`; target.format is the output format of make_mlp()'s
// stage for source.format.
void mlp_rows(const ConstRows& source, const MutableRows& target, const Network& network);

}  // namespace gpufilter

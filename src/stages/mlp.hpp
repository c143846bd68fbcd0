// --mlp: every pixel through a small network.
#pragma once

#include "stages/catalogue.hpp"
#include "stages/network.hpp"

namespace gpufilter {

// What a device computes at a time. The result is the same for every size.
struct MlpBlock {
  int pixels = 0;  // at most; 0: what suits the device
};

// x is a pixel's samples times 1 / maximum, in single precision; grey counts as equal red, green
// and blue, a missing alpha as the maximum. The outputs are multiplied by the maximum, rounded half
// to even and saturated, NaN to 0. Three outputs leave alpha as it is, four make it. Throws
// UsageError where the layers are no network.
[[nodiscard]] std::shared_ptr<const Stage> make_mlp(Network network, MlpBlock block = {});

[[nodiscard]] StageKind mlp_stage_kind();

}  // namespace gpufilter

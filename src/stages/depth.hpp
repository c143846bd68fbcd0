// --depth: samples of 8 or 16 bits.
#pragma once

#include "stages/catalogue.hpp"

namespace gpufilter {

// `bits`: 8 or 16.
[[nodiscard]] std::shared_ptr<const Stage> make_depth(int bits);
[[nodiscard]] StageKind depth_stage_kind();

}  // namespace gpufilter

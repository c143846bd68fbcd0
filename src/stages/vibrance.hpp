// --vibrance: saturates pale colours more than strong ones.
#pragma once

#include "stages/catalogue.hpp"

namespace gpufilter {

// L is luma_bt709() of a pixel, C its largest colour sample minus its smallest. In single
// precision:
//   f = fma(-amount / max, C, 1 + amount)       one constant each, rounded once from double
//   out = fma(f, sample - L, L)                 rounded half to even and saturated
[[nodiscard]] std::shared_ptr<const Stage> make_vibrance(double amount);

[[nodiscard]] StageKind vibrance_stage_kind();

}  // namespace gpufilter

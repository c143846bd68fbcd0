// --linear and --encoded: the stages between them work in linear light.
#pragma once

#include "image/light_curves.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

// Samples become light, of 16 bits.
[[nodiscard]] std::shared_ptr<const Stage> make_linear(const LightCurves& curves);
// Light becomes samples of `bits` bits again, 8 or 16.
[[nodiscard]] std::shared_ptr<const Stage> make_encoded(const LightCurves& curves, int bits);

// Both stand for the curves of the picture that is filtered; see Stage::for_colors().

// The chain as the user wrote it, with an --encoded at its end if the last --linear has none.
// Throws UsageError for one that stands alone, and for a stage that converts colours between them.
[[nodiscard]] StageChain with_light_ends(StageChain chain);

}  // namespace gpufilter

// --linear and --encoded: the stages between them work in linear light.
#pragma once

#include "image/light_curves.hpp"
#include "stages/catalogue.hpp"

namespace gpufilter {

// Samples become light, of 16 bits.
[[nodiscard]] std::shared_ptr<const Stage> make_linear(const LightCurves& curves);
// Light becomes samples of `bits` bits again, 8 or 16.
[[nodiscard]] std::shared_ptr<const Stage> make_encoded(const LightCurves& curves, int bits);

// Both stand for the curves of the picture that is filtered; see with_light_of().
[[nodiscard]] StageKind linear_stage_kind();
[[nodiscard]] StageKind encoded_stage_kind();

// The chain as the user wrote it, with an --encoded at its end if the last --linear has none.
// Throws UsageError for one that stands alone.
[[nodiscard]] StageChain with_light_ends(StageChain chain);

// The chain for one picture: each --linear has the picture's own curves, and --encoded gives
// samples the bits that they had before. `input` is the picture's format. Throws what
// Stage::output_format() does.
[[nodiscard]] StageChain with_light_of(const StageChain& chain, const PixelFormat& input,
                                       const Metadata& metadata);

}  // namespace gpufilter

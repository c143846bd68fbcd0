// --to-srgb and --profile: from the picture's ICC profile to another one.
#pragma once

#include <string>

#include "codec/read_limits.hpp"
#include "stage/options/catalogue.hpp"
#include "stages/colour/color_profile.hpp"

namespace gpufilter {

// To sRGB. Pictures without a profile count as sRGB; they do not change.
[[nodiscard]] std::shared_ptr<const Stage> make_to_srgb(const ProfileUse& use);
// To `profile`, of grey or RGB; `label` is its file. Throws UnusableProfile.
[[nodiscard]] std::shared_ptr<const Stage> make_to_profile(IccProfile profile,
                                                           const ProfileUse& use,
                                                           std::string label);

// The conversion that readers of CMYK do, so that the rows of a picture are in the colours of the
// first of these stages from the beginning; empty if the chain has none.
[[nodiscard]] ChooseInk ink_choice(const StageChain& chain);

// Both stand for a conversion from the profile of the picture; see Stage::for_colors().

}  // namespace gpufilter

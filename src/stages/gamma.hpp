// --gamma: brightens or darkens the middle tones by a power.
#pragma once

#include "stages/catalogue.hpp"

namespace gpufilter {

// out = max * (sample / max)^(1 / gamma), rounded half to even.
[[nodiscard]] std::shared_ptr<const Stage> make_gamma(double gamma);

[[nodiscard]] StageKind gamma_stage_kind();

}  // namespace gpufilter

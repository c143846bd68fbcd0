// --hue: turns the hues of colours; the matrix of --color hue=DEGREES.
#pragma once

#include "stages/catalogue.hpp"

namespace gpufilter {

[[nodiscard]] std::shared_ptr<const Stage> make_hue(double degrees);

[[nodiscard]] StageKind hue_stage_kind();

}  // namespace gpufilter

// --invert: the negative of a picture.
#pragma once

#include "stages/catalogue.hpp"

namespace gpufilter {

[[nodiscard]] std::shared_ptr<const Stage> make_invert();

[[nodiscard]] StageKind invert_stage_kind();

}  // namespace gpufilter

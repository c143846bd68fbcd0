// --gray: colours become their brightness.
#pragma once

#include "stages/catalogue.hpp"

namespace gpufilter {

// Red, green and blue become luma_bt709() of the samples as stored; alpha stays.
[[nodiscard]] std::shared_ptr<const Stage> make_gray();

[[nodiscard]] StageKind gray_stage_kind();

}  // namespace gpufilter

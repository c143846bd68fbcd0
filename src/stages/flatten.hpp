// --flatten: lays a picture with alpha over a colour.
#pragma once

#include "image/color.hpp"
#include "stages/catalogue.hpp"

namespace gpufilter {

// The result has no alpha; flattened() of image/sample_arithmetic.hpp is the formula. A grey
// picture is laid over the colour's luma_bt601(), as files without alpha are.
[[nodiscard]] std::shared_ptr<const Stage> make_flatten(const Color& background, std::string label);

[[nodiscard]] StageKind flatten_stage_kind();

}  // namespace gpufilter

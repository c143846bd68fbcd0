// The step of --pixel, for stages that compute floating-point samples as an expression does.
#pragma once

#include <memory>
#include <string>

#include "stage/stage.hpp"

namespace gpufilter {

// `text` has to be a valid expression. `name` and `label` are those of the stage that it works for.
[[nodiscard]] std::shared_ptr<const OneStepStage> make_pixel(std::string name, std::string label,
                                                             std::string text);

}  // namespace gpufilter

// The steps of a Gaussian, shared by several stages.
#pragma once

#include <optional>
#include <string>

#include "stage/stage.hpp"
#include "stages/gaussian/gaussian.hpp"
#include "stages/gaussian/gaussian_rows.hpp"

namespace gpufilter {

// Steps along rows and along columns, for pictures of this format; reports name them after the
// stage. With a mask, the second step applies it. Or one step for both, where the processor has a
// loop for it, or the device a kernel.
[[nodiscard]] Lowered lowered_gaussian(const std::string& stage,
                                       const GaussianParameters& parameters,
                                       const std::optional<UnsharpMask>& mask,
                                       const PixelFormat& picture);

}  // namespace gpufilter

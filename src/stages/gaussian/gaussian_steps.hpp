// The steps of a Gaussian, which several stages are made of.
#pragma once

#include <optional>
#include <string>

#include "stage/stage.hpp"
#include "stages/gaussian/gaussian.hpp"
#include "stages/gaussian/gaussian_rows.hpp"

namespace gpufilter {

// Along rows and along columns, for pictures of this format; reports name them after the stage.
// With a mask, the second step applies it. Or one step for both, where `device` has a kernel for
// it, or the processor (nullptr) a loop.
[[nodiscard]] StageChain gaussian_steps(const std::string& stage,
                                        const GaussianParameters& parameters,
                                        const std::optional<UnsharpMask>& mask,
                                        const PixelFormat& picture, const DeviceInfo* device);

}  // namespace gpufilter

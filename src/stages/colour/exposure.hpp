// Tables that multiply light: --exposure and --white-balance.
#pragma once

#include <cstdint>
#include <vector>

#include "image/icc.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

// For each sample of a picture of this depth, the sample nearest to `gain` times its light; half
// way between two, the lower one. `curve` is from samples to light.
[[nodiscard]] std::vector<std::uint16_t> exposure_table(const TransferCurve& curve, double gain,
                                                        const PixelFormat& pixel);

}  // namespace gpufilter

// --denoise of 8-bit pictures on x86 beyond the baseline, by the instruction that multiplies pairs
// of 16-bit numbers and adds the products of each pair (pmaddwd).
#pragma once

#include "stages/denoise.hpp"

#ifdef __x86_64__
namespace gpufilter {

// As denoise_rows(), for 8 bits and an instruction set in use that is not the baseline.
void denoise_pairs(const ConstRows& source, const MutableRows& target, int height,
                   const DenoiseParameters& parameters, const DenoiseNumbers& numbers);

}  // namespace gpufilter
#endif

// Look-up tables on the processor: the reference for every kernel.
#pragma once

#include "image/rows.hpp"

namespace gpufilter {

// Both fill `target` from the same rows of `source`, whose format it has; alpha stays. The target
// may be the source.

// Colours become table[sample]. The table has max_sample + 1 entries.
void lookup_rows(const ConstRows& source, const MutableRows& target, const std::uint16_t* table);

// Colours become sample * factors[luma], rounded half to even and saturated, in float32; for grey
// pictures luma is the sample. There are max_sample + 1 factors, finite and not negative.
void lookup_rows(const ConstRows& source, const MutableRows& target, const float* factors);

}  // namespace gpufilter

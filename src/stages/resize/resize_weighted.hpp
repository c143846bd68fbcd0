// The steps of --resize for colours weighted by alpha: 8 bits, RGBA, with AVX-512.
#pragma once

#ifdef __x86_64__

#include "image/rows.hpp"
#include "stages/resize/resize_taps.hpp"

namespace gpufilter {

// Whether this machine has the instructions, the set in use allows them, and there are loops for
// the format.
[[nodiscard]] bool takes_weighted_vectors(const PixelFormat& format);

// As resize_along_rows() and resize_along_columns(), weighted.
void resize_weighted_along_rows(const ConstRows& source, const MutableRows& target,
                                const ResizeTaps& taps);
void resize_weighted_along_columns(const ConstRows& source, const MutableRows& target,
                                   const ResizeTaps& taps);

}  // namespace gpufilter
#endif

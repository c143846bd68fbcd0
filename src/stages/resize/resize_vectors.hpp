// The loops of --resize on the processor that are written for its vectors.
#pragma once

#include <vector>

#include "image/rows.hpp"
#include "stages/resize/resize_taps.hpp"

#ifdef __x86_64__
namespace gpufilter {

// For 8-bit samples the instruction that multiplies four bytes with four weights and adds the
// products (vpdpbusd of AVX-512 VNNI). A weight is three numbers of 8 bits with a sign,
// 2^16 * high + 2^8 * middle + low: sums of each are exact, as all sums are modulo 2^32.

// Whether the processor's instruction set and the samples are suitable.
[[nodiscard]] bool takes_quads(const PixelFormat& format);

// As resize_along_rows() and resize_along_columns() of resize_rows.hpp do, without alpha.
void resize_quads_along_rows(const ConstRows& source, const MutableRows& target,
                             const ResizeTaps& taps, const std::vector<ResizeTaps::Quad>& quads);
void resize_quads_along_columns(const ConstRows& source, const MutableRows& target,
                                const ResizeTaps& taps, const std::vector<ResizeTaps::Quad>& quads);

// For colours weighted by alpha: 8 bits, RGBA, AVX-512.

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

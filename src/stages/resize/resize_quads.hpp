// The loops of --resize for 8-bit samples by the instruction that multiplies four bytes with four
// weights and adds the products (vpdpbusd of AVX-512 VNNI). A weight is three numbers of 8 bits
// with a sign, 2^16 * high + 2^8 * middle + low: sums of each are exact, as all sums are modulo
// 2^32.
#pragma once

#include "image/rows.hpp"
#include "stages/resize/resize_taps.hpp"

#ifdef __x86_64__
namespace gpufilter {

// Whether the processor's instruction set and the samples are suitable.
[[nodiscard]] bool takes_quads(const PixelFormat& format);

// As resize_along_rows() and resize_along_columns() of resize_rows.hpp do, without alpha.
void resize_quads_along_rows(const ConstRows& source, const MutableRows& target,
                             const ResizeTaps& taps, const std::vector<ResizeTaps::Quad>& quads);
void resize_quads_along_columns(const ConstRows& source, const MutableRows& target,
                                const ResizeTaps& taps, const std::vector<ResizeTaps::Quad>& quads);

}  // namespace gpufilter
#endif

// The loops of --resize on the processor that are written for its vectors.
#pragma once

#include "image/rows.hpp"
#include "stages/resize/resize_taps.hpp"

namespace gpufilter {

// For 8-bit samples without weighting by alpha, by the instructions that multiply two numbers of 16
// bits, or four bytes, with as many weights and add the products (pmaddwd, vpdpbusd).

// Fills the first rows of `target` as resize_along_rows() of resize_rows.hpp does; returns how
// many: a few last ones may be left.
[[nodiscard]] int resize_bytes_along_rows(const ConstRows& source, const MutableRows& target,
                                          const ResizeTaps& taps, const ResizeTables& tables);

// As resize_along_columns(); whether it did it: rows may be too short.
[[nodiscard]] bool resize_bytes_along_columns(const ConstRows& source, const MutableRows& target,
                                              const ResizeTaps& taps, const ResizeTables& tables);

#ifdef __x86_64__
// For colours weighted by alpha: 8 bits, RGBA, AVX-512.

// Whether this machine has the instructions, the set in use allows them, and there are loops for
// the format.
[[nodiscard]] bool takes_weighted_vectors(const PixelFormat& format);

// As resize_along_rows() and resize_along_columns(), weighted.
void resize_weighted_along_rows(const ConstRows& source, const MutableRows& target,
                                const ResizeTaps& taps);
void resize_weighted_along_columns(const ConstRows& source, const MutableRows& target,
                                   const ResizeTaps& taps);
#endif

}  // namespace gpufilter

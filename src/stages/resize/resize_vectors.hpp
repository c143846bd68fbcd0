// The loops of --resize on the processor that are written for its vectors.
#pragma once

#include "image/rows.hpp"
#include "stages/resize/resize_taps.hpp"

namespace gpufilter {

// For 8-bit samples without weighting by alpha, by the instructions that multiply two numbers of 16
// bits, or four bytes, with as many weights and add the products (pmaddwd, vpdpbusd).

// Fills the first rows of `target` as resize_along_rows() of resize_rows.hpp does; returns how
// many: a few at the end may be left.
[[nodiscard]] int resize_bytes_along_rows(const ConstRows& source, const MutableRows& target,
                                          const ResizeTaps& taps, const ResizeTables& tables);

// resize_along_columns() for bytes; false, without effect, if rows are too short.
[[nodiscard]] bool resize_bytes_along_columns(const ConstRows& source, const MutableRows& target,
                                              const ResizeTaps& taps, const ResizeTables& tables);

// For colours weighted by alpha: 8-bit RGBA, AVX2.

// Whether the instructions in use have loops for this format.
[[nodiscard]] bool takes_weighted_vectors(const PixelFormat& format);

// resize_along_rows() and resize_along_columns() with colours weighted by alpha.
void resize_weighted_along_rows(const ConstRows& source, const MutableRows& target,
                                const ResizeTaps& taps);
void resize_weighted_along_columns(const ConstRows& source, const MutableRows& target,
                                   const ResizeTaps& taps);

}  // namespace gpufilter

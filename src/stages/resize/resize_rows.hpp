// The loops of --resize on the processor: along rows, then along columns.
#pragma once

#include "image/rows.hpp"
#include "stages/resize/resize_taps.hpp"

namespace gpufilter {

// Between the directions: the picture's format, so samples are rounded and limited; or, where
// colours are weighted by alpha, for each pixel its colours, 1 if all of its taps are opaque, and
// the sums of weight * colour * alpha for each colour and of weight * alpha without their last
// product_shift() bits.
[[nodiscard]] inline PixelFormat resize_between(const PixelFormat& picture, bool weighted) {
  return weighted ? PixelFormat{2 * picture.channels, 4 * picture.depth} : picture;
}

// Bits of the products with alpha that are dropped, so that the sums along columns fit 63 bits.
[[nodiscard]] constexpr int product_shift(int depth) {
  return depth == 8 ? 10 : 18;
}
// Bits of alpha's sums along columns that are below a sample's last one.
[[nodiscard]] constexpr int alpha_shift(int depth) {
  return 2 * ResizeTaps::weight_bits - product_shift(depth);
}

// `tables` belong to the taps, here and below.
//
// Along rows: each result is (sum of weight * x + 2^21) / 2^22, rounded down and limited to 0..max.
void resize_along_rows(const ConstRows& source, const MutableRows& target, const ResizeTaps& taps,
                       const ResizeTables& tables, bool weighted);

// Along columns, by the same formula, from the rows that the taps of `target` read. If `weighted`,
// alpha is the rounded sum of its products, and a colour the quotient of its weighted sum and of
// that same sum, rounded half up, unless all taps are opaque or the sum is not above 0: then alpha
// is 0.
void resize_along_columns(const ConstRows& source, const MutableRows& target,
                          const ResizeTaps& taps, const ResizeTables& tables, bool weighted);

}  // namespace gpufilter

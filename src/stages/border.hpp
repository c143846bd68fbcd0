// What stands outside a picture where a stage looks past its edge.
#pragma once

#include "image/rows.hpp"

namespace gpufilter {

// The numbers are those of kernels/common.cl.
enum class Border {
  replicate = 0,  // the nearest pixel: aaa|abcd|ddd
  mirror = 1,     // reflected about the outermost pixel: cb|abcd|cb (OpenCV's BORDER_REFLECT_101)
  wrap = 2,       // the opposite side: cd|abcd|ab
  constant = 3,   // opaque black
};

// Which of the positions 0 ... n - 1 stands at position i, any integer; -1: none, a constant.
[[nodiscard]] int border_position(Border border, int i, int n);

// The rows that a window of `radius` rows around each of `rows` reads, in a picture `height` high;
// under Border::wrap they may reach past its edges.
[[nodiscard]] RowRange border_rows(Border border, const RowRange& rows, int radius, int height);

}  // namespace gpufilter

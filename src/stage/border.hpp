// The pixels outside a picture, for stages that read past its edges, and how such stages treat
// alpha.
#pragma once

#include "image/rows.hpp"

namespace gpufilter {

// How a stage uses alpha: as the weight of its pixel's colours, or as one more plain channel.
enum class AlphaMode { weighted, independent };

// The enumerators have the values in kernels/stage/common.cl.
enum class Border {
  replicate = 0,  // the nearest pixel: aaa|abcd|ddd
  mirror = 1,     // reflected about the outermost pixel: cb|abcd|cb (OpenCV's BORDER_REFLECT_101)
  wrap = 2,       // the opposite side: cd|abcd|ab
  constant = 3,   // opaque black
};

// The position within 0 ... n - 1 whose pixel is at position i, any integer; -1: a constant.
[[nodiscard]] int border_position(Border border, int i, int n);

// The rows that a window of `radius` rows around each of `rows` reads, in a picture `height` high.
// With Border::wrap they may reach past its edges.
[[nodiscard]] RowRange border_rows(Border border, const RowRange& rows, int radius, int height);

}  // namespace gpufilter

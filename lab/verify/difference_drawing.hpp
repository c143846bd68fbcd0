// The differences of two small pictures, drawn large.
#pragma once

#include "codec/byte_sink.hpp"
#include "image/image.hpp"

namespace gpufilter::lab {

// As draw_difference() draws them, each pixel as a square so large that the drawing is about 800
// wide or high. Both pictures are of the same size and format.
[[nodiscard]] Image difference_drawing(const Image& expected, const Image& found);

// Makes `drawing` the file's contents, as PNG. Throws PictureError.
void write_drawing(const Image& drawing, ByteSink& sink);

}  // namespace gpufilter::lab

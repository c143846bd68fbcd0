// --color: multiplies every pixel by a matrix.
#pragma once

#include "stage/options/catalogue.hpp"
#include "stages/colour/color_matrix.hpp"

namespace gpufilter {

// x is a pixel's samples as stored, in single precision; grey counts as equal red, green and blue,
// a missing alpha as the maximum. Each sample of the result is one chain of fused multiply-adds
// from the bias on, in the order red, green, blue, alpha; rounded half to even; saturated, NaN to
// 0. `label` is what the timing shows, `name` the option that requests it.
[[nodiscard]] std::shared_ptr<const Stage> make_color(const ColorMatrix& matrix, std::string label,
                                                      std::string name = "color");

}  // namespace gpufilter

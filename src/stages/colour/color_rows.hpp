// The colour matrix in plain C++: the reference for every kernel.
#pragma once

#include "image/rows.hpp"
#include "stages/colour/color_matrix.hpp"

namespace gpufilter {

// Fills `target`, in color_output()'s format, from the same rows of `source`.
void color_rows(const ConstRows& source, const MutableRows& target, const ColorMatrix& matrix);

}  // namespace gpufilter

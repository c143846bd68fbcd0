// --convolve in plain C++: the reference for its kernel.
#pragma once

#include "stages/window/convolve.hpp"

namespace gpufilter {

// Fills `target` from `source`, rows of a picture `height` high, with the matrix's numbers for its
// format; same width and format. `source` covers border_rows() of target.rows.
void convolve_rows(const ConstRows& source, const MutableRows& target, int height,
                   const ConvolveParameters& parameters, const ConvolutionNumbers& numbers);

}  // namespace gpufilter

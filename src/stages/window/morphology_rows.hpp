// --dilate and --erode in plain C++: the reference for their kernels.
#pragma once

#include "stages/window/morphology.hpp"

namespace gpufilter {

// Fills `target` from `source`, rows of a picture `height` high; same width and format. `source`
// covers border_rows() of target.rows. The operation is Morphology::dilate or erode.
void morphology_rows(const ConstRows& source, const MutableRows& target, int height,
                     const MorphologyParameters& parameters);

}  // namespace gpufilter

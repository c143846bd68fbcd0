// --edges in plain C++: the reference for its kernel.
#pragma once

#include "stages/edges.hpp"

namespace gpufilter {

// Fills `target` from `source`, rows of a picture `height` high; same width and format. `source`
// covers border_rows() of target.rows.
void edges_rows(const ConstRows& source, const MutableRows& target, int height,
                const EdgesParameters& parameters);

}  // namespace gpufilter

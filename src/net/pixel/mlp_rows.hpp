// The network in plain C++: the reference for the kernels.
#pragma once

#include "image/rows.hpp"
#include "net/pixel/network.hpp"

namespace gpufilter {

// Fills `target` from the same rows of `source`; target.format is the output format of make_mlp()'s
// stage for source.format.
void mlp_rows(const ConstRows& source, const MutableRows& target, const Network& network);

}  // namespace gpufilter

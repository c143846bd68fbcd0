// The network in plain C++: the bits that the kernels give.
#pragma once

#include "image/rows.hpp"
#include "stages/network.hpp"

namespace gpufilter {

// Fills `target` from the same rows of `source`; target.format is what make_mlp()'s stage makes of
// source.format.
void mlp_rows(const ConstRows& source, const MutableRows& target, const Network& network);

}  // namespace gpufilter

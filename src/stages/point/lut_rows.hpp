// Colour look-up tables on the processor: the reference for every kernel.
#pragma once

#include "image/rows.hpp"
#include "stages/point/lattice.hpp"

namespace gpufilter {

// Both fill `target`, which has 3 or 4 channels, from the same rows of `source`; alpha stays.
void lattice_rows(const ConstRows& source, const MutableRows& target, const Lattice& lattice);
void curve_rows(const ConstRows& source, const MutableRows& target, const std::uint16_t* tables);

}  // namespace gpufilter

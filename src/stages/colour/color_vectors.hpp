// The inner loop of --color for 8-bit pixels whose colours depend on colours alone, by instructions
// that no compiler chooses for a plain loop: bytes to floats by shuffles, and back by packing with
// saturation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/instruction_set.hpp"
#include "stages/colour/color_matrix.hpp"

#ifdef __x86_64__
namespace gpufilter {

// Transforms as many of `count` pixels of `channels`, 3 or 4, as whole vectors can without touching
// memory after them; returns their number. Alpha stays. The result has the channels of the source;
// the weights of alpha are taken to be 0.
std::size_t color_vectors(InstructionSet set, std::size_t channels, const std::uint8_t* in,
                          std::size_t count, const ColorCoefficients& numbers, std::uint8_t* out);

}  // namespace gpufilter
#endif

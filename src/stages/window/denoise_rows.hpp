// --denoise in plain C++: the reference for its kernel.
#pragma once

#include "stages/window/window_stages.hpp"

namespace gpufilter {

// Fills `target` from `source`, rows of a picture `height` high, with the numbers for its format;
// same width and format. `source` covers border_rows() of target.rows
// and numbers.reach.
void denoise_rows(const ConstRows& source, const MutableRows& target, int height,
                  const DenoiseParameters& parameters, const DenoiseNumbers& numbers);

// Denoises colour, with chroma_numbers().
void denoise_chroma_rows(const ConstRows& source, const MutableRows& target, int height,
                         const DenoiseParameters& parameters, const DenoiseNumbers& numbers);

// denoise_rows() of 8 bits.
void denoise_pairs(const ConstRows& source, const MutableRows& target, int height,
                   const DenoiseParameters& parameters, const DenoiseNumbers& numbers);

}  // namespace gpufilter

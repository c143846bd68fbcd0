// The short report of a run.
#pragma once

#include <string>

#include "pipeline/run.hpp"

namespace gpufilter {

// Three lines: input and output, device and reason; the steps in order, in milliseconds; the total.
// Names are shortened, and transfers without a copy are left out.
[[nodiscard]] std::string timing_line(const RunReport& report);

// "1000x500 -> 200x100, RGBA, 16-bit -> RGB, 8-bit (alpha laid over #ffffff)": size and pixels in
// the input file and, if different, in the output file; then an EXIF orientation, applied or not.
[[nodiscard]] std::string pixels_text(const RunReport& report);

// The name of the walk through the picture with this number, from 1 on: "second pass".
[[nodiscard]] std::string pass_heading(int walk);

}  // namespace gpufilter

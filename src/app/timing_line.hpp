// The short account of a run.
#pragma once

#include <string>

#include "pipeline/run.hpp"

namespace gpufilter {

// Three lines: what became of what, on which device and why; the work in its order, with
// milliseconds; the whole. Names are shortened, transfers without a copy left out.
[[nodiscard]] std::string timing_line(const RunReport& report);

// "RGBA, 8-bit -> RGB, 8-bit": the pixels read and, where they differ, written; then an EXIF
// orientation, which is not applied.
[[nodiscard]] std::string pixels_text(const RunReport& report);

// Of the walk through the picture with this number, from 1 on: "second pass".
[[nodiscard]] std::string pass_heading(int walk);

}  // namespace gpufilter

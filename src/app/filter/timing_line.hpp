// The short report of a run.
#pragma once

#include <string>

#include "pipeline/run/run.hpp"

namespace gpufilter {

// Three lines: input and output, device and reason; the steps in order, in milliseconds; the total.
// A line more for each further output. Names are shortened, and transfers without a copy are left
// out.
[[nodiscard]] std::string timing_line(const RunReport& report);

// "also small/a.webp: 400x300, RGB, 8-bit; WebP, 14 kB"
[[nodiscard]] std::string other_output_line(const OutputReport& report);

// "1000x500 -> 200x100, RGBA, 16-bit -> RGB, 8-bit (alpha flattened onto #ffffff)": size and pixels
// in the input file and, if different, in the output file; then an EXIF orientation, applied or
// not.
[[nodiscard]] std::string pixels_text(const RunReport& report);

// "processor (42 ms estimated; no GPU found)": the device, why it was chosen, what was left out.
[[nodiscard]] std::string device_text(const EngineReport& engine);

// "812 bytes", "1.6 MB"
[[nodiscard]] std::string size_text(std::uint64_t bytes);

// A duration or rate with about three digits: "0.05", "2.1", "1520".
[[nodiscard]] std::string brief(double value);

// The name of the walk through the picture with this number, from 1 on: "second pass".
[[nodiscard]] std::string pass_heading(int walk);

}  // namespace gpufilter

// A plan for medians as OpenCL C.
#pragma once

#include <string>

namespace gpufilter::median {

struct Plan;

// A line of statements that find the medians of a tile, for kernels/median/median_tiles.cl:
// SAMPLE_AT(x, y) is a sample, MEDIAN(x, y, number) takes a result; S(a, b) and L(a, b) are the
// smaller and the larger of two numbers.
[[nodiscard]] std::string source_of(const Plan& plan);

}  // namespace gpufilter::median

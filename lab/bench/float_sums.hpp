// Ways to add up floats on the processor, and how exact each is.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace gpufilter::lab {

struct FloatSum {
  std::string name;
  double (*run)(std::span<const float> values);
};

// left to right:     one float, a rounding for each value
// staged 32/32/1024: sums of 32 neighbours from left to right, then sums of 32 such sums, then of
//                    1024, then of what is left, as one work-item, one work-group and one launch
//                    would add them
// tree:              reduce_floats() (array_reduction.hpp)
// Kahan:             one float and the error of its last rounding
// double:            one double, left to right
[[nodiscard]] std::span<const FloatSum> float_sums();

// `count` times `value`, exactly: up to 2^29 times.
[[nodiscard]] double exact_sum(float value, std::size_t count);

}  // namespace gpufilter::lab

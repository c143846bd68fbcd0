// How far results of single precision are from those of double precision.
#pragma once

#include <span>
#include <vector>

#include "lab/bench/report.hpp"

namespace gpufilter::lab {

// The largest differences between numbers and what they should be. Relative ones count where the
// expected number is not 0. Units in the last place (ulp) are distances between neighbouring floats
// at the expected number. A number that is not finite, unlike the expected one, is infinitely far
// away.
struct LargestErrors {
  double absolute = 0;
  double relative = 0;
  double ulp = 0;
};

// As many numbers in both.
[[nodiscard]] LargestErrors largest_errors(std::span<const float> found,
                                           std::span<const double> expected);

// "max_absolute_error", "max_relative_error", "max_ulp_error".
[[nodiscard]] std::vector<Column> error_columns();
void add_errors(Row& row, const LargestErrors& errors);

// What the columns mean.
inline constexpr const char* note_on_errors =
    "abs, rel, ulp error: the largest differences from the same in double precision; an ulp is the "
    "distance between neighbouring floats";

}  // namespace gpufilter::lab

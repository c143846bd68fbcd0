#include "lab/bench/error_columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpufilter::lab {
namespace {

// The distance from |number| to the next float above it.
double ulp_at(double number) {
  constexpr int precision = std::numeric_limits<float>::digits;
  constexpr int smallest = std::numeric_limits<float>::min_exponent;
  const int exponent = number == 0 ? smallest : std::max(std::ilogb(number) + 1, smallest);
  return std::ldexp(1.0, exponent - precision);
}

}  // namespace

LargestErrors largest_errors(std::span<const float> found, std::span<const double> expected) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  LargestErrors errors;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double number = found[i];
    const double right = expected[i];
    if (number == right || (std::isnan(number) && std::isnan(right))) continue;
    if (!std::isfinite(number) || !std::isfinite(right)) return {infinity, infinity, infinity};
    const double error = std::abs(number - right);
    errors.absolute = std::max(errors.absolute, error);
    if (right != 0) errors.relative = std::max(errors.relative, error / std::abs(right));
    errors.ulp = std::max(errors.ulp, error / ulp_at(right));
  }
  return errors;
}

std::vector<Column> error_columns() {
  return {{"max_absolute_error", "abs error", 3},
          {"max_relative_error", "rel error", 3},
          {"max_ulp_error", "ulp error", 3}};
}

void add_errors(Row& row, const LargestErrors& errors) {
  row["max_absolute_error"] = errors.absolute;
  row["max_relative_error"] = errors.relative;
  row["max_ulp_error"] = errors.ulp;
}

}  // namespace gpufilter::lab

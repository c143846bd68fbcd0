#include "lab/bench/float_sums.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "lab/bench/array_reduction.hpp"

namespace gpufilter::lab {
namespace {

double left_to_right(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0F);
}

// One sum for every `group` neighbours.
std::vector<float> stage(std::span<const float> values, std::size_t group) {
  std::vector<float> sums;
  sums.reserve(values.size() / group + 1);
  for (std::size_t begin = 0; begin < values.size(); begin += group) {
    const auto part = values.subspan(begin, std::min(group, values.size() - begin));
    sums.push_back(std::accumulate(part.begin(), part.end(), 0.0F));
  }
  return sums;
}

double staged(std::span<const float> values) {
  return left_to_right(stage(stage(stage(values, 32), 32), 1024));
}

double tree(std::span<const float> values) {
  return reduce_floats(values).sum;
}

double kahan(std::span<const float> values) {
  float sum = 0;
  float error = 0;  // what the sum is too large by
  for (const float value : values) {
    const float corrected = value - error;
    const float next = sum + corrected;
    error = (next - sum) - corrected;
    sum = next;
  }
  return sum;
}

double in_double(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

std::span<const FloatSum> float_sums() {
  static const std::array sums{FloatSum{"left to right", left_to_right},
                               FloatSum{"staged 32/32/1024", staged}, FloatSum{"tree", tree},
                               FloatSum{"Kahan", kahan}, FloatSum{"double", in_double}};
  return sums;
}

double exact_sum(float value, std::size_t count) {
  return static_cast<double>(value) * static_cast<double>(count);
}

}  // namespace gpufilter::lab

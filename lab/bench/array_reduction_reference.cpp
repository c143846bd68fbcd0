#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/checked.hpp"
#include "lab/bench/array_reduction.hpp"

namespace gpufilter::lab {
namespace {

constexpr std::size_t lanes = 32;
constexpr std::size_t reference_block = 1024;

// One level of the tree: `take` adds a value to a lane, `join` a lane to a lane.
template <typename Take, typename Join>
std::vector<float> reduce_level(std::span<const float> values, float nothing, Take take,
                                Join join) {
  std::vector<float> results;
  for (std::size_t begin = 0; begin < values.size(); begin += reference_block) {
    const auto part = values.subspan(begin, std::min(reference_block, values.size() - begin));
    std::array<float, lanes> lane{};
    lane.fill(nothing);
    for (std::size_t i = 0; i < part.size(); ++i) {
      lane[i % lanes] = take(lane[i % lanes], part[i]);
    }
    for (std::size_t distance = lanes / 2; distance > 0; distance /= 2) {
      for (std::size_t l = 0; l < distance; ++l)
        lane[l] = join(lane[l], lane[l + distance]);
    }
    results.push_back(lane.front());
  }
  return results;
}

// The whole tree. `first` takes the array's own values, `join` those of later levels.
template <typename Take, typename Join>
float reduce_tree(std::span<const float> values, float nothing, Take first, Join join) {
  std::vector<float> level = reduce_level(values, nothing, first, join);
  while (level.size() > 1)
    level = reduce_level(level, nothing, join, join);
  return std::isnan(level.front()) ? std::numeric_limits<float>::quiet_NaN() : level.front();
}

// Whether a comes before b, -0 before +0.
bool precedes(float a, float b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

}  // namespace

IntegerTotals reduce_integers(std::span<const std::int32_t> values) {
  if (values.size() > max_integers) throw std::overflow_error("there are too many integers");
  IntegerTotals totals;
  for (const std::int32_t value : values) {
    const std::int64_t wide = value;
    totals.sum += wide;
    totals.sum_of_squares =
        checked_add(totals.sum_of_squares, static_cast<std::uint64_t>(wide * wide));
    totals.minimum = std::min(totals.minimum, value);
    totals.maximum = std::max(totals.maximum, value);
    totals.product *= static_cast<std::uint64_t>(wide);
    totals.bit_and &= static_cast<std::uint32_t>(value);
    totals.bit_or |= static_cast<std::uint32_t>(value);
    totals.bit_xor ^= static_cast<std::uint32_t>(value);
  }
  return totals;
}

FloatTotals reduce_floats(std::span<const float> values) {
  FloatTotals totals;
  if (values.empty()) return totals;
  const auto add = [](float a, float b) { return a + b; };
  const auto add_square = [](float sum, float value) { return std::fma(value, value, sum); };
  const auto multiply = [](float a, float b) { return a * b; };
  // -0 changes nothing that it is added to, not even -0.
  totals.sum = reduce_tree(values, -0.0F, add, add);
  totals.sum_of_squares = reduce_tree(values, -0.0F, add_square, add);
  totals.product = reduce_tree(values, 1.0F, multiply, multiply);
  for (const float value : values) {
    if (std::isnan(value)) continue;
    if (precedes(value, totals.minimum)) totals.minimum = value;
    if (precedes(totals.maximum, value)) totals.maximum = value;
  }
  return totals;
}

}  // namespace gpufilter::lab

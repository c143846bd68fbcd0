// How exact each way of adding up floats is: the figures of the lessons.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lab/bench/array_reduction.hpp"

namespace gpufilter::lab {
namespace {

std::map<std::string, double> sums_of(const std::vector<float>& values) {
  std::map<std::string, double> sums;
  for (const FloatSum& sum : float_sums())
    sums[sum.name] = sum.run(values);
  return sums;
}

TEST(FloatSums, OfAMillionTimesOnePointOne) {
  constexpr std::size_t count = 1U << 20U;
  // The float 1.1 is 9227469 / 2^23.
  EXPECT_EQ(exact_sum(1.1F, count), 9227469.0 / 8);
  const auto sums = sums_of(std::vector<float>(count, 1.1F));
  EXPECT_EQ(sums.at("left to right"), 1165568.5);
  EXPECT_EQ(sums.at("staged 32/32/1024"), 1153421.75);
  EXPECT_EQ(sums.at("Kahan"), 1153433.625);
  EXPECT_EQ(sums.at("double"), 1153433.625);
  // In a tree of equal values the two halves are equal: only the chains of 32 are rounded.
  EXPECT_NEAR(sums.at("tree"), 1153433.625, 1);
}

TEST(FloatSums, OfWholeNumbersAreExact) {
  for (const std::size_t count : {0U, 1U, 31U, 32U, 33U, 1024U, 1025U, 33000U, (1U << 20U) + 5U}) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = static_cast<float>(i % 7);
    double expected = 0;
    for (std::size_t i = 0; i < count; ++i)
      expected += static_cast<double>(i % 7);
    for (const auto& [name, sum] : sums_of(values))
      EXPECT_EQ(sum, expected) << name << ' ' << count;
  }
}

}  // namespace
}  // namespace gpufilter::lab

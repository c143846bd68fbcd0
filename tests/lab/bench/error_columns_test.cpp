// Errors of floats against double precision.
#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "lab/bench/report.hpp"

namespace gpufilter::lab {
namespace {

TEST(LargestErrors, AreThoseOfTheWorstNumbers) {
  // 3 is one above 2, where floats are 2^-22 apart; 1.5 is a hundredth of 150.
  const LargestErrors errors =
      largest_errors(std::array{3.0F, 148.5F, 7.0F}, std::array{2.0, 150.0, 7.0});
  EXPECT_EQ(errors.absolute, 1.5);
  EXPECT_EQ(errors.relative, 0.5);
  EXPECT_EQ(errors.ulp, 0x1p22);
}

TEST(LargestErrors, CountUnitsInTheLastPlace) {
  const double third = 1.0 / 3;
  const auto rounded = static_cast<float>(third);
  EXPECT_LE(largest_errors(std::array{rounded}, std::array{third}).ulp, 0.5);
  // Floats from 0.25 to 0.5 are 2^-25 apart.
  const LargestErrors one_more = largest_errors(std::array{0.25F + 0x1p-25F}, std::array{0.25});
  EXPECT_EQ(one_more.ulp, 1);
  EXPECT_EQ(one_more.absolute, 0x1p-25);
  EXPECT_EQ(one_more.relative, 0x1p-23);
  // The sum of 1.1, 2^20 times, from left to right: between 2^20 and 2^21 floats are 1/8 apart.
  EXPECT_EQ(largest_errors(std::array{1165568.5F}, std::array{1153433.625}).ulp, 12134.875 * 8);
}

TEST(LargestErrors, KnowZeroAndTheSmallestNumbers) {
  constexpr float smallest = std::numeric_limits<float>::denorm_min();
  const LargestErrors errors = largest_errors(std::array{2 * smallest}, std::array{0.0});
  EXPECT_EQ(errors.ulp, 2);
  EXPECT_EQ(errors.relative, 0) << "nothing is relative to 0";
  EXPECT_EQ(largest_errors(std::array{smallest}, std::array{2.0 * smallest}).ulp, 1);
}

TEST(LargestErrors, AreInfiniteForNumbersThatAreNotFinite) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isinf(largest_errors(std::array{nan}, std::array{1.0}).ulp));
  EXPECT_TRUE(std::isinf(largest_errors(std::array{infinity}, std::array{1e39}).absolute));
  EXPECT_EQ(
      largest_errors(std::array{nan, infinity}, std::array<double, 2>{nan, infinity}).absolute, 0);
}

}  // namespace
}  // namespace gpufilter::lab

#include "host/arithmetic.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

// Numbers of every magnitude, including zeros, infinities and NaN, and some that differ in few
// bits.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : engine_(seed) {}

  float next() {
    const auto word = static_cast<std::uint32_t>(engine_() >> 32U);
    switch (engine_() % 8) {
      case 0:
        return std::bit_cast<float>(word);
      case 1:
        return std::bit_cast<float>(word & 0x807fffffU);  // subnormal or zero
      case 2:
        return static_cast<float>(word % 256U);
      case 3:
        return std::bit_cast<float>(0x3f800000U + word % 8U);  // just above 1
      case 4:
        return std::ldexp(1.0F, static_cast<int>(word % 250U) - 125);
      case 5:
        return std::bit_cast<float>((word & 0x80000007U) | 0x7f7ffff8U);  // near the largest
      default:
        return static_cast<float>(static_cast<std::int32_t>(word)) * 0x1p-31F;
    }
  }

 private:
  std::mt19937_64 engine_;
};

::testing::AssertionResult fused_equally(float a, float b, float c) {
  const float expected = std::fma(a, b, c);
  const float result = fma_from_double(a, b, c);
  if (std::isnan(expected)
          ? std::isnan(result)
          : std::bit_cast<std::uint32_t>(result) == std::bit_cast<std::uint32_t>(expected)) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << std::hexfloat << "fma(" << a << ", " << b << ", " << c
                                       << ") is " << expected << ", not " << result;
}

TEST(FusedMultiplyAdd, FromDoubleIsRoundedOnce) {
  Numbers numbers(1);
  for (int i = 0; i < 3'000'000; ++i) {
    ASSERT_TRUE(fused_equally(numbers.next(), numbers.next(), numbers.next()));
  }
}

// The sum in double precision is rounded to the middle between two floats: rounding it again would
// give the even one of them, regardless of the exact sum.
TEST(FusedMultiplyAdd, FromDoubleIsRoundedOnceNextToTheMiddle) {
  for (const float sign : {1.0F, -1.0F}) {
    for (const float tiny : {0x1p-60F, -0x1p-60F, 0x1p-149F, -0x1p-149F, 0.0F, -0.0F}) {
      for (int odd = 0; odd < 4; ++odd) {
        const float above_one = 1.0F + static_cast<float>(odd) * 0x1p-12F;
        // (1 + odd / 2^12) * (1 + 2^-12) has its last bit at 2^-24: the middle between two floats.
        ASSERT_TRUE(fused_equally(sign * above_one, 1.0F + 0x1p-12F, tiny));
      }
    }
  }
  EXPECT_EQ(fma_from_double(1.0F + 0x1p-12F, 1.0F + 0x1p-12F, 0x1p-149F),
            1.0F + 0x1p-11F + 0x1p-23F);
  EXPECT_EQ(fma_from_double(1.0F + 0x1p-12F, 1.0F + 0x1p-12F, -0x1p-149F), 1.0F + 0x1p-11F);
}

template <typename Sample>
void expect_samples_rounded_half_to_even() {
  constexpr int max = std::numeric_limits<Sample>::max();
  for (int i = -4; i <= 4 * (max + 2); ++i) {
    const float number = static_cast<float>(i) / 4.0F;
    const float rounded = std::nearbyint(number);
    const float expected = rounded < 0 ? 0 : (rounded > max ? max : rounded);
    ASSERT_EQ(to_sample<Sample>(number), static_cast<std::uint32_t>(expected)) << number;
    const float below = std::nextafter(number, -1.0F);
    const float expected_below = std::nearbyint(below) < 0 ? 0 : std::nearbyint(below);
    ASSERT_EQ(to_sample<Sample>(below),
              static_cast<std::uint32_t>(expected_below > max ? max : expected_below))
        << below;
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(to_sample<Sample>(std::numeric_limits<float>::quiet_NaN()), 0U);
  EXPECT_EQ(to_sample<Sample>(-std::numeric_limits<float>::quiet_NaN()), 0U);
  EXPECT_EQ(to_sample<Sample>(-infinity), 0U);
  EXPECT_EQ(to_sample<Sample>(-0.0F), 0U);
  EXPECT_EQ(to_sample<Sample>(infinity), static_cast<std::uint32_t>(max));
}

TEST(ToSample, RoundsHalfToEvenAndSaturates) {
  expect_samples_rounded_half_to_even<std::uint8_t>();
  expect_samples_rounded_half_to_even<std::uint16_t>();
}

}  // namespace
}  // namespace gpufilter

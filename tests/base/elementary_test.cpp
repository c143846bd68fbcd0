#include "base/elementary.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

struct Value {
  double x;
  double result;
};

// The exact results rounded to the nearest double, worked out with 300 bits.
const std::vector<Value> logarithms{
    {0x1.a36e2eb1c432dp-14, -0x1.26bb1bbb55515p+3},  // 1e-4
    {0x1.078eb9bbc811dp-8, -0x1.6107820692010p+2},   // 1e-4 + 1/255
    {0x1.0000000000000p-1, -0x1.62e42fefa39efp-1},
    {0x1.6a09e667f3bccp-1, -0x1.62e42fefa39f1p-2},  // on both sides of the square root of 1/2
    {0x1.6a09e667f3bcdp-1, -0x1.62e42fefa39eep-2},
    {0x1.0000000000000p+0, 0x0.0p+0},
    {0x1.00068db8bac71p+0, 0x1.a368d0657fcd4p-14},  // 1.0001
    {0x1.0000000000000p-1022, -0x1.6232bdd7abcd2p+9},
    {0x0.0000000000001p-1022, -0x1.74385446d71c3p+9},
    {0x1.fffffffffffffp+1023, 0x1.62e42fefa39efp+9},
    {0x1.fffffffffffffp-1, -0x1.0000000000000p-53},
    {0x1.0000000000001p+0, 0x1.fffffffffffffp-53},
    {0x1.4000000000000p+3, 0x1.26bb1bbb55516p+1},
    {0x1.5bf0a8b145769p+1, 0x1.0000000000000p+0},
};

const std::vector<Value> powers{
    {0x0.0p+0, 0x1.0000000000000p+0},
    {-0x1.26bb1bbb55515p+3, 0x1.a36e2eb1c4333p-14},  // ln(1e-4)
    {-0x1.0000000000000p+0, 0x1.78b56362cef38p-2},
    {0x1.62e42fefa39f0p-2, 0x1.6a09e667f3bcdp+0},  // ln(2) / 2
    {-0x1.4000000000000p+1, 0x1.50385c094f425p-4},
    {0x1.79ca10c924223p-67, 0x1.0000000000000p+0},
    {-0x1.5e00000000000p+9, 0x1.14f2b0fb9307fp-1010},
    {0x1.5e00000000000p+9, 0x1.d945df4f8ec8ep+1009},
    {0x1.0000000000000p-1, 0x1.a61298e1e069cp+0},
    {-0x1.a36e2eb1c432dp-14, 0x1.fff2e4b97d31dp-1},
};

double neighbour(double x, int steps) {
  const double towards = steps < 0 ? -std::numeric_limits<double>::infinity()
                                   : std::numeric_limits<double>::infinity();
  return std::nextafter(x, towards);
}

TEST(NaturalLogarithm, HasKnownBits) {
  for (const Value& value : logarithms)
    EXPECT_EQ(natural_logarithm(value.x), value.result) << value.x;
  // 0.18: the exact result lies almost in the middle between two doubles, and this is the other
  // one. A change of the order of operations would show here.
  EXPECT_EQ(natural_logarithm(0x1.70a3d70a3d70ap-3), neighbour(-0x1.b6fd079fe3149p+0, -1));
}

TEST(Exponential, HasKnownBits) {
  for (const Value& value : powers)
    EXPECT_EQ(exponential(value.x), value.result) << value.x;
  EXPECT_EQ(exponential(1), neighbour(0x1.5bf0a8b145769p+1, 1));                       // as above
  EXPECT_EQ(exponential(-0x1.62e42fefa39efp-2), neighbour(0x1.6a09e667f3bcdp-1, -1));  // as above
}

// In units of the last place of `expected`.
long double error_of(double found, long double expected) {
  const auto nearest = static_cast<double>(expected);
  const double unit = std::nextafter(std::abs(nearest), std::numeric_limits<double>::infinity()) -
                      std::abs(nearest);
  return std::abs(found - expected) / static_cast<long double>(unit);
}

// The C library's functions for numbers of 64 bits and more serve as reference: their error is far
// below a unit of a double.
TEST(ElementaryFunctions, AreWithinAUnitOfTheLastPlace) {
  if (std::numeric_limits<long double>::digits < 64) {
    GTEST_SKIP() << "long double is no wider than double here";
  }
  for (int i = 1; i <= 65536; ++i) {
    const double brightness = 1e-4 + i / 65536.0;
    ASSERT_LT(
        error_of(natural_logarithm(brightness), std::log(static_cast<long double>(brightness))), 1)
        << brightness;
    const double scaled = std::ldexp(brightness, i % 2000 - 1000);
    ASSERT_LT(error_of(natural_logarithm(scaled), std::log(static_cast<long double>(scaled))), 1)
        << scaled;
    for (const double power : {-9.3 * i / 65536, 700.0 * i / 65536, -700.0 * i / 65536}) {
      ASSERT_LT(error_of(exponential(power), std::exp(static_cast<long double>(power))), 1)
          << power;
    }
  }
}

}  // namespace
}  // namespace gpufilter

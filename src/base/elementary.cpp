#include "base/elementary.hpp"

#include <cmath>

namespace gpufilter {
namespace {

// ln(2) in two parts. The upper one ends in 32 zero bits: its products with exponents are exact.
constexpr double ln2_upper = 0x1.62e42p-1;
constexpr double ln2_lower = 0x1.fdf473de6af28p-22;
constexpr double inverse_of_ln2 = 0x1.71547652b82fep+0;
constexpr double square_root_of_half = 0x1.6a09e667f3bcdp-1;

}  // namespace

// x = 2^exponent * (1 + f) with 1 + f between the square roots of 1/2 and 2. With s = f / (2 + f),
//   ln(1 + f) = 2 s + 2/3 s^3 + 2/5 s^5 + ..., and 2 s = f - (f^2/2 - s f^2/2).
// The second form begins with f, which is exact, so that the rounding of s hardly matters.
double natural_logarithm(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // from 1/2 to 1; exact, as ldexp() is
  if (mantissa < square_root_of_half) {
    mantissa *= 2;
    --exponent;
  }
  const double f = mantissa - 1;
  const double s = f / (2 + f);
  const double square = s * s;
  double series = 0;  // 2/3 s^2 + 2/5 s^4 + ...; |s| < 0.172, so the first term left out is 2^-61
  for (int n = 25; n >= 3; n -= 2)
    series = (series + 2.0 / n) * square;
  const double half = f * f / 2;
  const double lower = s * (half + series) + exponent * ln2_lower;
  return exponent * ln2_upper - ((half - lower) - f);
}

// x = k ln(2) + r with |r| <= ln(2) / 2, and e^x = 2^k e^r by Taylor's series.
double exponential(double x) {
  const double k = std::round(x * inverse_of_ln2);
  const double upper = x - k * ln2_upper;  // exact
  const double lower = k * ln2_lower;
  const double r = upper - lower;
  const double lost = (upper - r) - lower;  // by rounding r
  double series = 0;                        // r^2/2 + r^3/6 + ...
  for (int n = 16; n >= 2; --n)
    series = (series + 1) * r / n;
  series *= r;
  return std::ldexp(1 + (r + (series + lost)), static_cast<int>(k));
}

// Taylor's series for up to a quarter of a turn.
double sine_of_degrees(double degrees) {
  const double sign = degrees < 180 ? 1 : -1;
  const double half = degrees < 180 ? degrees : degrees - 180;
  const double x = (half > 90 ? 180 - half : half) * (3.14159265358979323846 / 180);
  const double square = x * x;
  double series = 1;
  for (int n = 24; n > 0; n -= 2)
    series = 1 - series * (square * (1.0 / (n * (n + 1))));
  return sign * series * x;
}

}  // namespace gpufilter

// Elementary functions with the same bits on every machine. The C library's may differ in their
// last bit between versions and processors, which would show where pixels depend on them. These use
// only operations that IEEE 754 rounds correctly, in a fixed order.
#pragma once

namespace gpufilter {

// ln(x) within 1 ulp, for finite x above 0.
[[nodiscard]] double natural_logarithm(double x);

// e^x within 1 ulp, for x from -700 to 700.
[[nodiscard]] double exponential(double x);

// The sine of 0 <= degrees < 360, within 1e-15.
[[nodiscard]] double sine_of_degrees(double degrees);

}  // namespace gpufilter

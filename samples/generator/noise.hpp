// The arithmetic that the sample pictures are drawn with: + - * / and sqrt alone, which every
// machine rounds alike, so that the same pictures come out everywhere.
#pragma once

#include <cmath>
#include <cstdint>

namespace gpufilter::samples {

// A well-mixed number for three coordinates.
[[nodiscard]] std::uint32_t hash(std::uint32_t x, std::uint32_t y, std::uint32_t seed);

// A random number in [0, 1).
[[nodiscard]] double random_unit(std::uint32_t x, std::uint32_t y, std::uint32_t seed);

[[nodiscard]] inline double clamp_unit(double v) {
  return v < 0.0 ? 0.0 : (v > 1.0 ? 1.0 : v);
}

[[nodiscard]] inline double mix(double a, double b, double t) {
  return a + (b - a) * t;
}

// 0 up to `low`, 1 from `high`, an S between them; `low` may be above `high`.
[[nodiscard]] inline double smoothstep(double low, double high, double v) {
  const double t = clamp_unit((v - low) / (high - low));
  return t * t * (3.0 - 2.0 * t);
}

// Smooth noise in [0, 1) with one random value at every integer point.
[[nodiscard]] double noise(double x, double y, std::uint32_t seed);

// Octaves of noise, each twice as fine and half as strong as the one before, in [0, 1).
[[nodiscard]] double fractal_noise(double x, double y, int octaves, std::uint32_t seed);

// As fractal_noise, but with sharp crests near 1: mountains.
[[nodiscard]] double ridged_noise(double x, double y, int octaves, std::uint32_t seed);

}  // namespace gpufilter::samples

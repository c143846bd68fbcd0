#include "generator/noise.hpp"

namespace gpufilter::samples {

std::uint32_t hash(std::uint32_t x, std::uint32_t y, std::uint32_t seed) {
  std::uint32_t h = seed * 0x9E3779B9U ^ x * 0x85EBCA6BU ^ y * 0xC2B2AE35U;
  h ^= h >> 16U;
  h *= 0x7FEB352DU;
  h ^= h >> 15U;
  h *= 0x846CA68BU;
  h ^= h >> 16U;
  return h;
}

double random_unit(std::uint32_t x, std::uint32_t y, std::uint32_t seed) {
  return static_cast<double>(hash(x, y, seed)) / 4294967296.0;
}

double noise(double x, double y, std::uint32_t seed) {
  const double left = std::floor(x);
  const double top = std::floor(y);
  const auto column = static_cast<std::uint32_t>(static_cast<std::int32_t>(left));
  const auto row = static_cast<std::uint32_t>(static_cast<std::int32_t>(top));
  const auto ease = [](double t) { return t * t * t * (t * (t * 6.0 - 15.0) + 10.0); };
  const double across = ease(x - left);
  const double down = ease(y - top);
  return mix(
      mix(random_unit(column, row, seed), random_unit(column + 1, row, seed), across),
      mix(random_unit(column, row + 1, seed), random_unit(column + 1, row + 1, seed), across),
      down);
}

double fractal_noise(double x, double y, int octaves, std::uint32_t seed) {
  double sum = 0.0;
  double strength = 0.5;
  double total = 0.0;
  for (int octave = 0; octave < octaves; ++octave) {
    sum += strength * noise(x, y, seed + static_cast<std::uint32_t>(octave));
    total += strength;
    strength *= 0.5;
    // Turned a little (by the angle whose cosine is 0.8), so that the grids do not line up.
    const double turned = 2.0 * (0.8 * x - 0.6 * y);
    y = 2.0 * (0.6 * x + 0.8 * y);
    x = turned;
  }
  return sum / total;
}

double ridged_noise(double x, double y, int octaves, std::uint32_t seed) {
  double sum = 0.0;
  double strength = 0.5;
  double total = 0.0;
  double weight = 1.0;
  for (int octave = 0; octave < octaves; ++octave) {
    const double crest =
        1.0 - std::fabs(2.0 * noise(x, y, seed + static_cast<std::uint32_t>(octave)) - 1.0);
    sum += strength * weight * crest * crest;
    total += strength;
    weight = clamp_unit(crest * 1.4);  // fine detail on the crests, calm valleys
    strength *= 0.5;
    const double turned = 2.0 * (0.8 * x - 0.6 * y);
    y = 2.0 * (0.6 * x + 0.8 * y);
    x = turned;
  }
  return sum / total;
}

}  // namespace gpufilter::samples

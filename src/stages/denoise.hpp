// --denoise: means of similar neighbours.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/alpha.hpp"
#include "stages/border.hpp"
#include "stages/catalogue.hpp"

namespace gpufilter {

struct DenoiseParameters {
  static constexpr double min_sigma_color = 2;
  static constexpr double max_sigma_color = 200;
  static constexpr int max_radius = 8;

  double sigma_color = 20;  // in 255ths of the largest sample
  int radius = 4;
  Border border = Border::replicate;
  AlphaMode alpha = AlphaMode::weighted;
};

// A neighbour of a pixel, by its distance, and its weight by that alone, up to 256.
struct DenoiseTap {
  std::int32_t x;
  std::int32_t y;
  std::int32_t weight;
};

// The numbers for pictures of one format. A neighbour whose colours differ from the pixel's by d,
// the sum of the differences of all colours, has the weight
//   u = min(d, limit) * inverse >> depth       0 ... 255
//   q = (255^2 - u^2) >> 8
//   weight = tap.weight * (q^2 >> 8) >> 8      0 ... 252
struct DenoiseNumbers {
  std::vector<DenoiseTap> taps;
  std::int32_t limit = 0;
  std::int32_t inverse = 0;
};

[[nodiscard]] DenoiseNumbers denoise_numbers(const DenoiseParameters& parameters,
                                             const PixelFormat& format);

[[nodiscard]] std::shared_ptr<const Stage> make_denoise(const DenoiseParameters& parameters);

}  // namespace gpufilter

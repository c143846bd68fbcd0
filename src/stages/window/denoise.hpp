// --denoise: means of similar neighbours.
#pragma once

#include <cstdint>
#include <vector>

#include "stage/border.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

struct DenoiseParameters {
  static constexpr double min_sigma_color = 2;
  static constexpr double max_sigma_color = 200;
  static constexpr int max_radius = 8;

  double sigma_color = 20;  // in 255ths of the largest sample
  int radius = 4;
  Border border = Border::replicate;
  AlphaMode alpha = AlphaMode::weighted;
  double chroma = 0;  // the standard deviation of coloured blotches, in 255ths; 0: none
};

// A neighbour of a pixel, by its distance, and its weight by that alone, up to 256.
struct DenoiseTap {
  std::int32_t x;
  std::int32_t y;
  std::int32_t weight;
};

// The numbers for pictures of one format. A neighbour whose planes differ from the pixel's by d,
// the sum of the differences of all planes, has the weight
//   u = min(d, limit) * inverse >> depth       0 ... 255
//   q = (255^2 - u^2) >> 8
//   weight = tap.weight * (q^2 >> 8) >> 8      0 ... 252
struct DenoiseNumbers {
  std::vector<DenoiseTap> taps;
  int reach = 0;  // of the taps, in pixels
  std::int32_t limit = 0;
  std::int32_t inverse = 0;
};

// The planes are the colours.
[[nodiscard]] DenoiseNumbers denoise_numbers(const DenoiseParameters& parameters,
                                             const PixelFormat& format);

// The planes are 2 Y, U + max and V + max with Y = (R + 2 G + B) / 4, rounded down, U = R - G and
// V = B - G; the means of U and V give the result, whose Y stays.
[[nodiscard]] DenoiseNumbers chroma_numbers(const DenoiseParameters& parameters,
                                            const PixelFormat& format);

[[nodiscard]] std::shared_ptr<const Stage> make_denoise(const DenoiseParameters& parameters);

}  // namespace gpufilter

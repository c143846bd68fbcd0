// --gaussian, a blur with the weights of a normal distribution, and --sharpen, an unsharp mask.
#pragma once

#include <cstdint>
#include <vector>

#include "stage/border.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

struct GaussianParameters {
  static constexpr double min_sigma = 0.2;
  static constexpr double max_sigma = 50;
  static constexpr double max_truncate = 6;

  double sigma = 1;     // in pixels, from min_sigma to max_sigma
  double truncate = 3;  // the window ends at this multiple of sigma; from 1 to max_truncate
  Border border = Border::replicate;
  AlphaMode alpha = AlphaMode::weighted;
};

// The weights at the distances 0, 1, ... on either side: round(2^bits w) of the normal
// distribution's w, which add up to 1 over the window; the middle one is corrected so that all add
// up to 2^bits. The last is at the distance ceil(truncate * sigma).
[[nodiscard]] std::vector<std::int32_t> gaussian_weights(double sigma, double truncate, int bits);

[[nodiscard]] std::shared_ptr<const Stage> make_gaussian(const GaussianParameters& parameters);

struct SharpenParameters {
  static constexpr double max_amount = 10;

  double amount = 1;  // from 0 to max_amount
  double sigma = 1;   // of the Gaussian
  // Differences from the Gaussian up to this are left alone; in 8-bit samples, for 16 bits too.
  double threshold = 0;
  bool luma_only = false;
  Border border = Border::replicate;
  AlphaMode alpha = AlphaMode::weighted;
};

[[nodiscard]] std::shared_ptr<const Stage> make_sharpen(const SharpenParameters& parameters);

}  // namespace gpufilter

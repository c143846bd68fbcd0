// --sharpen: an unsharp mask.
#pragma once

#include "stage/options/catalogue.hpp"
#include "stages/gaussian/gaussian.hpp"

namespace gpufilter {

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

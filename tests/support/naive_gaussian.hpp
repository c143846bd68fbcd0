// --gaussian from its definition: the whole window for each pixel, without tiles, tables or
// shortcuts.
#pragma once

#include <cstdint>
#include <vector>

#include "image/image.hpp"
#include "stages/gaussian/gaussian.hpp"

namespace gpufilter::test {

class NaiveGaussian {
 public:
  // `image` has to outlive it.
  NaiveGaussian(const Image& image, const GaussianParameters& parameters);

  // A sample of the result, with `more_bits` bits more.
  [[nodiscard]] std::int64_t at(int x, int y, int channel, int more_bits = 0) const;

 private:
  [[nodiscard]] int radius() const { return static_cast<int>(weights_.size()) - 1; }
  [[nodiscard]] std::int64_t max() const { return image_.format().max_sample(); }
  [[nodiscard]] std::int64_t weight(int distance) const;
  [[nodiscard]] std::int64_t sample(int x, int y, int channel) const;

  const Image& image_;
  GaussianParameters parameters_;
  int bits_;
  std::vector<std::int32_t> weights_;
};

}  // namespace gpufilter::test

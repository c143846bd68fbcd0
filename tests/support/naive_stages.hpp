// Second implementations from the definitions, without tiles, tables or shortcuts: the box blur and
// turns pixel by pixel, --gaussian by the whole window for each pixel.
#pragma once

#include "image/placement.hpp"
#include "stages/gaussian/gaussian.hpp"
#include "stages/window/blur.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {

[[nodiscard]] Image naive_blur(const Image& image, Border border, AlphaMode alpha);

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

[[nodiscard]] inline Image naive_turn(const Image& image, const Turn& turn) {
  const ImageSize size = image.size();
  Image result(turn.size_of(size), image.format());
  for (const auto [x, y] : each_pixel(result.size())) {
    const int u = turn.swaps ? y : x;
    const int v = turn.swaps ? x : y;
    for (int c = 0; c < image.format().channels; ++c) {
      set_sample(result, x, y, c,
                 sample_at(image, turn.mirrors_x ? size.width - 1 - u : u,
                           turn.mirrors_y ? size.height - 1 - v : v, c));
    }
  }
  return result;
}

}  // namespace gpufilter::test

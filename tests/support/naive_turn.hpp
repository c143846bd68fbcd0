// Turns a picture sample by sample, as the definition says.
#pragma once

#include "image/placement.hpp"
#include "support/pictures.hpp"

namespace gpufilter::test {

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

// Stages that work on single pixels: their expected results, and the comparison everywhere.
#pragma once

#include <array>
#include <cstdint>

#include "image/image.hpp"
#include "support/filtering.hpp"
#include "support/instruction_sets.hpp"
#include "support/picture_counting.hpp"
#include "support/pictures.hpp"

namespace gpufilter::test {

using Samples = std::array<std::uint32_t, 4>;  // those of one pixel, in their order

// The picture in the format `target` whose pixels are function(pixel of `image`).
template <typename Function>
[[nodiscard]] Image mapped(const Image& image, PixelFormat target, const Function& function) {
  Image result = poisoned_image(image.size(), target);
  for (const auto [x, y] : each_pixel(image)) {
    Samples in{};
    for (int c = 0; c < image.format().channels; ++c)
      in.at(static_cast<std::size_t>(c)) = sample_at(image, x, y, c);
    const Samples out = function(in);
    for (int c = 0; c < target.channels; ++c)
      set_sample(result, x, y, c, out.at(static_cast<std::size_t>(c)));
  }
  return result;
}

// `expected`, on the processor with each instruction set and on every device, in bands.
inline void expect_everywhere(const StageChain& chain, const Image& image, const Image& expected) {
  with_each_instruction_set([&] {
    const Image result = filter_on_host(image, chain, {});
    ASSERT_TRUE(same_pixels(result, expected)) << to_string(image.format());
    ASSERT_TRUE(padding_holds(result.rows()));
  });
  for (Session* session : kernel_sessions(image.format())) {
    for (const int rows : {5, 1000}) {
      ASSERT_TRUE(
          same_pixels(filter_on_device(*session, image, chain, {.band_rows = rows}), expected))
          << session->device().name << ", " << to_string(image.format());
    }
  }
}

}  // namespace gpufilter::test

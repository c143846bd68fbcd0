// Stages that work on single pixels: their expected results, and the comparison everywhere.
#pragma once

#include "support/stage_cases.hpp"

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
  check_on_host(image, chain, expected, {1000}, RowEnds::hold);
  for (Session* session : kernel_sessions(image.format()))
    check_on_device(*session, image, chain, expected, {5, 1000});
}

}  // namespace gpufilter::test

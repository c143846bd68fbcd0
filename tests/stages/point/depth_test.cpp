// --depth converts every sample exactly, on the processor and on every device.

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/instruction_sets.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

using test::same_pixels;

// All levels, in order.
Image all_levels(int depth) {
  const PixelFormat format{1, depth};
  Image image({256, depth == 8 ? 1 : 256}, format);
  for (const auto [x, y] : test::each_pixel({256, image.size().height}))
    test::set_sample(image, x, y, 0, static_cast<std::uint32_t>(256 * y + x));
  return image;
}

// Half way between two levels of 8 bits lies no level of 16 bits: 65535 / 255 is odd.
std::uint32_t nearest_level(std::uint32_t sample, int to) {
  return static_cast<std::uint32_t>(to == 8 ? sample / 257.0 + 0.5 : sample * 257.0);
}

TEST(Depth, ConvertsEveryLevel) {
  for (const int to : {8, 16}) {
    const Image image = all_levels(24 - to);
    test::with_each_instruction_set([&] {
      const Image found =
          test::filter_on_host(image, {test::stage_of(formatted("--depth {}", to))}, {});
      ASSERT_EQ(found.format(), (PixelFormat{1, to}));
      for (const auto [x, y] : test::each_pixel({256, image.size().height})) {
        ASSERT_EQ(test::sample_at(found, x, y, 0),
                  nearest_level(test::sample_at(image, x, y, 0), to));
      }
    });
  }
}

TEST(Depth, ThatAPictureHasChangesNothing) {
  for (const int depth : {8, 16}) {
    const Image image = test::random_image({31, 9}, {4, depth}, 2);
    EXPECT_TRUE(same_pixels(
        test::filter_on_host(image, {test::stage_of(formatted("--depth {}", depth))}, {}), image));
  }
}

TEST(Depth, ThereAndBackChangesNothing) {
  const Image image = test::random_image({31, 9}, {3, 8}, 3);
  EXPECT_TRUE(same_pixels(
      test::filter_on_host(image, {test::stage_of("--depth 16"), test::stage_of("--depth 8")}, {}),
      image));
}

}  // namespace
}  // namespace gpufilter

// Look-ups on the processor with each instruction set, against one sample at a time.
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "image/sample_arithmetic.hpp"
#include "stages/point/lookup.hpp"
#include "support/instruction_sets.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

using test::same_pixels;

constexpr int widths[] = {1, 2, 3, 5, 17, 21, 22, 31, 63, 64, 65, 129, 255, 256, 257, 700};

// Calls check(picture) for every format and width.
template <typename Check>
void for_pictures(const Check& check) {
  for (const PixelFormat& format : test::all_formats()) {
    for (const int width : widths) {
      check(test::random_image({width, 3}, format, static_cast<std::uint64_t>(width)));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

template <typename Entry>
void expect_looked_up(const Image& image, const std::vector<Entry>& table, const Image& expected) {
  test::with_each_instruction_set([&] {
    Image result = test::poisoned_image(image.size(), image.format());
    lookup_rows(image.rows(), result.rows(), table.data());
    ASSERT_TRUE(same_pixels(result, expected));
    ASSERT_TRUE(test::padding_holds(result.rows()));
  });
}

TEST(LookupRows, TakeColoursFromTheTable) {
  for_pictures([](const Image& image) {
    std::mt19937 generator(3);
    std::vector<std::uint16_t> table(image.format().max_sample() + 1);
    for (std::uint16_t& entry : table)
      entry = static_cast<std::uint16_t>(generator() & image.format().max_sample());
    Image expected = test::copy_of(image);
    for (const auto [x, y, c] :
         test::each_sample({image.width(), 3}, image.format().color_channels()))
      test::set_sample(expected, x, y, c, table[test::sample_at(image, x, y, c)]);
    expect_looked_up(image, table, expected);
  });
}

TEST(LookupRows, ScaleColoursByTheFactorOfTheirLuma) {
  for_pictures([](const Image& image) {
    const auto max = static_cast<float>(image.format().max_sample());
    std::vector<float> factors(image.format().max_sample() + 1);
    for (std::size_t i = 0; i < factors.size(); ++i)
      factors[i] = i % 5 == 0 ? 0.5F : (i % 7 == 0 ? 3e38F : static_cast<float>(i % 97) / 30.0F);
    Image expected = test::copy_of(image);
    for (const auto [x, y] : test::each_pixel({image.width(), 3})) {
      const auto at = [&](int c) { return test::sample_at(image, x, y, c); };
      const bool grey = image.format().color_channels() == 1;
      const float factor = factors[grey ? at(0) : luma_bt709(at(0), at(1), at(2))];
      for (int c = 0; c < image.format().color_channels(); ++c) {
        const float scaled = std::nearbyint(static_cast<float>(at(c)) * factor);
        test::set_sample(expected, x, y, c,
                         static_cast<std::uint32_t>(scaled < max ? scaled : max));
      }
    }
    expect_looked_up(image, factors, expected);
  });
}

}  // namespace
}  // namespace gpufilter

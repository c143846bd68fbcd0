// --vibrance, and --hue, which is a matrix.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "image/sample_arithmetic.hpp"
#include "stage/options/catalogue.hpp"
#include "stages/colour/color.hpp"
#include "stages/colour/color_presets.hpp"
#include "support/filtering.hpp"
#include "support/single_pixels.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

test::Samples changed(const test::Samples& in, double amount, std::uint32_t max) {
  const std::uint32_t luma = luma_bt709(in[0], in[1], in[2]);
  const auto [low, high] = std::minmax({in[0], in[1], in[2]});
  const auto difference = [&](std::size_t a, std::size_t b) {
    return static_cast<std::int64_t>(in.at(a)) - static_cast<std::int64_t>(in.at(b));
  };
  const std::int64_t spread = std::int64_t{high} - low;
  const std::int64_t skin =
      std::max<std::int64_t>(std::min(4 * difference(1, 2), 8 * difference(0, 1)), 0);
  const std::int64_t strength = std::min<std::int64_t>(spread + skin, max);
  const float factor = std::fma(static_cast<float>(-amount / max), static_cast<float>(strength),
                                static_cast<float>(1 + amount));
  test::Samples out = in;
  for (std::size_t c = 0; c < 3; ++c) {
    const float distance = static_cast<float>(in.at(c)) - static_cast<float>(luma);
    const float sum = std::nearbyint(std::fma(factor, distance, static_cast<float>(luma)));
    out.at(c) = static_cast<std::uint32_t>(std::clamp(sum, 0.0F, static_cast<float>(max)));
  }
  return out;
}

TEST(Vibrance, SaturatesByTheFormula) {
  for (const PixelFormat& format : test::all_formats()) {
    for (const double amount : {-1.0, -0.3, 0.5, 1.0}) {
      for (const Image& image :
           {test::random_image({517, 9}, format, 1), test::extreme_image({33, 5}, format, 2)}) {
        const Image expected = test::mapped(image, format, [&](const test::Samples& in) {
          return format.color_channels() == 1 ? in : changed(in, amount, format.max_sample());
        });
        test::expect_everywhere({test::stage_of(formatted("--vibrance {}", amount))}, image,
                                expected);
      }
    }
  }
}

TEST(Vibrance, ChangesPaleColoursMoreThanStrongOnes) {
  const auto spread = [](const test::Samples& pixel) { return pixel[0] - pixel[2]; };
  const test::Samples pale = changed({140, 128, 120}, 1, 255);
  const test::Samples strong = changed({200, 100, 20}, 1, 255);
  EXPECT_EQ(spread(pale), 36U);  // from 20
  EXPECT_LT(spread(strong), 235U);
  EXPECT_EQ(changed({9, 9, 9}, 1, 255), (test::Samples{9, 9, 9}));
}

// Skin, light to dark, against the same spread of colours at other hues.
TEST(Vibrance, SparesSkin) {
  for (const test::Samples& skin :
       {test::Samples{230, 199, 171}, {224, 172, 138}, {198, 134, 66}, {141, 85, 56}}) {
    const auto spread = [](const test::Samples& pixel) {
      const auto [low, high] = std::minmax({pixel[0], pixel[1], pixel[2]});
      return static_cast<double>(high - low);
    };
    const auto gain = [&](const test::Samples& pixel) {
      return spread(changed(pixel, 0.5, 255)) / spread(pixel) - 1;
    };
    const test::Samples sky{skin[2], skin[1], skin[0]};
    EXPECT_LT(gain(skin), 0.17) << skin[0];
    EXPECT_GT(gain(sky), 0.19) << skin[0];
  }
}

TEST(Vibrance, ChangesNothingInGreyPicturesAndWithAnAmountOfZero) {
  EXPECT_TRUE(test::changes_nothing(test::stage_of("--vibrance 1"), {{3, 3}, {2, 8}}));
  EXPECT_TRUE(test::changes_nothing(test::stage_of("--vibrance 0"), {{3, 3}, {3, 8}}));
  EXPECT_FALSE(test::changes_nothing(test::stage_of("--vibrance 1"), {{3, 3}, {3, 8}}));
}

TEST(Hue, IsThePresetOfColor) {
  for (const PixelFormat& format : {PixelFormat{1, 8}, PixelFormat{4, 8}, PixelFormat{3, 16}}) {
    const Image image = test::random_image({129, 9}, format, 4);
    const auto color = make_color(to_matrix(find_color_preset("hue=-30").value()), "");
    test::expect_everywhere({test::stage_of("--hue -30")}, image,
                            test::filter_on_host(image, {color}, {}));
  }
  EXPECT_THROW(static_cast<void>(hue_stage_kind().make("400")), UsageError);
}

}  // namespace
}  // namespace gpufilter


#include <gtest/gtest.h>

#include "stage/options/catalogue.hpp"
#include "support/filtering.hpp"
#include "support/single_pixels.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

TEST(Gray, IsTheNearestLumaAndKeepsAlpha) {
  for (const PixelFormat& format : test::all_formats()) {
    const PixelFormat target{format.has_alpha() ? 2 : 1, format.depth};
    for (const Image& image :
         {test::random_image({1031, 17}, format, 1), test::extreme_image({33, 5}, format, 2)}) {
      const Image expected = test::mapped(image, target, [&](const test::Samples& in) {
        if (format.color_channels() == 1) return in;
        // Weights of ITU-R BT.709 in double precision; no sum is near enough to a half to matter.
        const double luma = 0.2126 * in[0] + 0.7152 * in[1] + 0.0722 * in[2];
        return test::Samples{static_cast<std::uint32_t>(luma + 0.5 + 1e-9), in[3]};
      });
      test::expect_everywhere({test::stage_of("--gray")}, image, expected);
    }
  }
}

TEST(Gray, ChangesNothingInGreyPictures) {
  EXPECT_TRUE(test::changes_nothing(test::stage_of("--gray"), {{3, 3}, {2, 8}}));
  EXPECT_FALSE(test::changes_nothing(test::stage_of("--gray"), {{3, 3}, {3, 8}}));
}

TEST(GrayOption, TakesNoValue) {
  EXPECT_NO_THROW(static_cast<void>(gray_stage_kind().make("")));
  EXPECT_THROW(static_cast<void>(gray_stage_kind().make("rec709")), UsageError);
}

}  // namespace
}  // namespace gpufilter

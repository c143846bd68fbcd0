
#include <gtest/gtest.h>

#include "stage/options/catalogue.hpp"
#include "support/filtering.hpp"
#include "support/single_pixels.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

// Nearest with exact halves down, in 64 bits.
std::uint32_t laid_over(std::uint64_t color, std::uint64_t alpha, std::uint64_t background,
                        std::uint64_t max) {
  const std::uint64_t sum = color * alpha + background * (max - alpha);
  const std::uint64_t whole = sum / max;
  return static_cast<std::uint32_t>(sum % max > max / 2 ? whole + 1 : whole);
}

TEST(Flatten, LaysColoursOverTheBackground) {
  const Color color{0x33, 0x66, 0xcc};
  for (const PixelFormat& format : test::all_formats()) {
    const std::uint32_t max = format.max_sample();
    const std::uint32_t scale = format.depth == 8 ? 1 : 257;
    const auto colors = static_cast<std::size_t>(format.color_channels());
    for (const Image& image :
         {test::random_image({257, 17}, format, 1), test::extreme_image({33, 5}, format, 2)}) {
      const Image expected =
          test::mapped(image, {format.color_channels(), format.depth}, [&](test::Samples pixel) {
            const std::uint32_t alpha = format.has_alpha() ? pixel.at(colors) : max;
            for (std::size_t c = 0; c < colors; ++c) {
              // 0.299 * 0x33 + 0.587 * 0x66 + 0.114 * 0xcc = 98.379
              const std::uint32_t background = colors == 1 ? 98U : color.at(c);
              pixel.at(c) = laid_over(pixel.at(c), alpha, background * scale, max);
            }
            return pixel;
          });
      test::expect_everywhere({test::stage_of("--flatten '#3366cc'")}, image, expected);
    }
  }
}

TEST(Flatten, ChangesNothingWithoutAlpha) {
  EXPECT_TRUE(test::changes_nothing(test::stage_of("--flatten black"), {{3, 3}, {3, 8}}));
  EXPECT_FALSE(test::changes_nothing(test::stage_of("--flatten black"), {{3, 3}, {4, 8}}));
}

TEST(FlattenOption, RefusesWhatIsNotAColour) {
  EXPECT_NO_THROW(static_cast<void>(flatten_stage_kind().make("#abc")));
  for (const char* value : {"", "wite", "#12345", "1,2,3"})
    EXPECT_THROW(static_cast<void>(flatten_stage_kind().make(value)), UsageError) << value;
}

}  // namespace
}  // namespace gpufilter

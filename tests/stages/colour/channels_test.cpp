// --channel and --swap copy samples.

#include "support/single_pixels.hpp"

namespace gpufilter::test {
namespace {

std::uint32_t channel_of(const Samples& pixel, const PixelFormat& format, std::size_t channel) {
  const bool grey = format.color_channels() == 1;
  if (channel == 3) return format.has_alpha() ? pixel.at(grey ? 1 : 3) : format.max_sample();
  if (channel == 4 && !grey)
    return (2126 * pixel[0] + 7152 * pixel[1] + 722 * pixel[2] + 5000) / 10000;
  return grey ? pixel[0] : pixel.at(channel);
}

TEST(Channel, IsAGreyPicture) {
  constexpr std::array words{"r", "g", "b", "a", "luma"};
  for (const PixelFormat& format : all_formats()) {
    const Image image = random_image({517, 13}, format, 1);
    for (std::size_t channel = 0; channel < words.size(); ++channel) {
      const Image expected = mapped(image, {1, format.depth}, [&](const Samples& pixel) {
        return Samples{channel_of(pixel, format, channel)};
      });
      expect_everywhere({stage_of(formatted("--channel {}", words.at(channel)))}, image, expected);
    }
  }
}

TEST(Swap, TakesColorsFromWhereTheLettersSay) {
  for (const std::string order : {"bgr", "rbg", "grb", "gbr", "brg"}) {
    for (const PixelFormat& format :
         {PixelFormat{3, 8}, PixelFormat{4, 8}, PixelFormat{3, 16}, PixelFormat{4, 16}}) {
      const Image image = random_image({67, 13}, format, 2);
      const Image expected = mapped(image, format, [&](const Samples& pixel) {
        Samples result = pixel;
        for (std::size_t c = 0; c < 3; ++c)
          result.at(c) = pixel.at(std::string("rgb").find(order.at(c)));
        return result;
      });
      expect_everywhere({stage_of("--swap " + order)}, image, expected);
    }
    EXPECT_TRUE(lowered({stage_of("--swap " + order)}, {2, 8}).empty()) << "of grey";
  }
}

TEST(Swap, TwoBecomeOne) {
  const StageChain chain = stages_of("--swap gbr --swap brg");
  EXPECT_EQ(make_plan({{9, 9}, {3, 8}}, chain).passes.size(), 1U);
}

}  // namespace
}  // namespace gpufilter::test

// --tint and --vignette against second implementations.

#include "support/instruction_sets.hpp"
#include "support/single_pixels.hpp"

namespace gpufilter::test {
namespace {

// The luma of --color grayscale, rounded as there, then straight lines in long double.
TEST(Tint, MakesShadesOfOneColorAndKeepsLuma) {
  struct Case {
    const char* name;
    std::array<int, 3> color;
  };
  for (const Case& each : {Case{"#704214", {112, 66, 20}}, Case{"blue", {0, 0, 255}},
                           Case{"white", {255, 255, 255}}, Case{"black", {0, 0, 0}}}) {
    SCOPED_TRACE(each.name);
    const long double own =
        (0.2126L * each.color[0] + 0.7152L * each.color[1] + 0.0722L * each.color[2]) / 255;
    for (const PixelFormat& format : all_formats()) {
      const std::uint32_t max = format.max_sample();
      const Image image = random_image({167, 33}, format, 1);
      const Image grey = filter_on_host(image, {stage_of("--color grayscale")}, {});
      const Image expected = mapped(grey, grey.format(), [&](Samples pixel) {
        const long double luma = static_cast<long double>(pixel[0]) / max;
        for (std::size_t c = 0; c < 3; ++c) {
          const long double color = each.color.at(c) / 255.0L;
          const long double result = luma <= own ? (own > 0 ? color * luma / own : 0)
                                                 : color + (1 - color) * (luma - own) / (1 - own);
          pixel.at(c) = static_cast<std::uint32_t>(std::nearbyint(result * max));
        }
        return pixel;
      });
      expect_everywhere({stage_of(formatted("--tint '{}'", each.name))}, image, expected);
      if (format.depth == 8) continue;
      for (const auto [x, y] : each_pixel(expected)) {
        const double luma = 0.2126 * sample_at(expected, x, y, 0) +
                            0.7152 * sample_at(expected, x, y, 1) +
                            0.0722 * sample_at(expected, x, y, 2);
        ASSERT_NEAR(luma, sample_at(grey, x, y, 0), 0.51);
      }
    }
  }
  expect_values(tint_stage_kind(), {"navy", "#123", "#704214"}, {"", "brownish", "#12", "1,2,3"});
}

// The factor of a pixel in single precision, as the formula says.
float vignette_factor(int x, int y, ImageSize size, float amount) {
  const double width = size.width - 1;
  const double height = size.height - 1;
  const double diagonal = std::sqrt(width * width + height * height);
  const float scale = diagonal > 0 ? static_cast<float>(1 / diagonal) : 0.0F;
  const float u = static_cast<float>(2 * x - (size.width - 1)) * scale;
  const float v = static_cast<float>(2 * y - (size.height - 1)) * scale;
  const float v2 = v * v;
  const float t = std::fma(u, u, v2);
  const float squared = t * t;
  const float share = squared * std::fma(-2.0F, t, 3.0F);
  return std::fma(-amount, share, 1.0F);
}

TEST(Vignette, MultipliesByTheDistanceFromTheMiddleEverywhere) {
  const std::vector<ImageSize> sizes{{1, 1}, {2, 1}, {1, 9}, {131, 67}, {64, 40}, {517, 21}};
  for (const PixelFormat& format : all_formats()) {
    for (const ImageSize size : sizes) {
      const Image image = random_image(size, format, 1);
      for (const double amount : {1.0, 0.37, -1.0}) {
        Image expected = copy_of(image);
        for (const auto [x, y, c] : each_sample(size, format.color_channels())) {
          const float factor = vignette_factor(x, y, size, static_cast<float>(amount));
          const float product = static_cast<float>(sample_at(image, x, y, c)) * factor;
          set_sample(expected, x, y, c,
                     static_cast<std::uint32_t>(std::clamp(
                         std::nearbyint(product), 0.0F, static_cast<float>(format.max_sample()))));
        }
        const LoweredChain chain =
            lower_chain({stage_of(formatted("--vignette {}", amount))}, {.shape = {size, format}});
        with_each_instruction_set([&] {
          for (const int rows : {1, 7, 1000})
            ASSERT_TRUE(same_pixels(filter_on_host(image, chain, {.band_rows = rows}), expected));
        });
        if (size.width < 64) continue;
        for (Session* session : kernel_sessions(format)) {
          for (const int rows : {7, 1000})
            ASSERT_TRUE(same_pixels(filter_on_device(*session, image, chain, {.band_rows = rows}),
                                    expected));
        }
      }
    }
  }
}

// Black in the corners with 1, and half as far to the middle, where t is 1/4, 27/32 of the light.
TEST(Vignette, IsWithinOneOfDoublePrecision) {
  const ImageSize size{301, 201};
  const Image image = random_image(size, {3, 16}, 2);
  const LoweredChain chain =
      lower_chain({stage_of("--vignette 1")}, {.shape = {size, image.format()}});
  const Image result = filter_on_host(image, chain, {});
  for (const auto [x, y, c] : each_sample(size, 3)) {
    const double u = (x - 150.0) / std::hypot(150.0, 100.0);
    const double v = (y - 100.0) / std::hypot(150.0, 100.0);
    const double t = u * u + v * v;
    const double exact = sample_at(image, x, y, c) * (1 - t * t * (3 - 2 * t));
    ASSERT_NEAR(sample_at(result, x, y, c), exact, 1) << x << ' ' << y;
  }
  EXPECT_EQ(sample_at(result, 0, 0, 0), 0U);
  EXPECT_EQ(sample_at(result, 150, 100, 1), sample_at(image, 150, 100, 1));
  const auto quarter = static_cast<double>(sample_at(image, 75, 50, 0));
  EXPECT_NEAR(sample_at(result, 75, 50, 0), quarter * 27 / 32, 1);
}

TEST(VignetteOption, TakesSharesAndPercent) {
  expect_values(vignette_stage_kind(), {"0", "1", "-1", "40%"}, {"", "1.1", "-2", "x"});
  EXPECT_TRUE(lowered({stage_of("--vignette 0")}, {3, 8}).empty());
}

}  // namespace
}  // namespace gpufilter::test

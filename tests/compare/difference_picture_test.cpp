#include "compare/difference_picture.hpp"

#include <array>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "image/image.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

using test::copy_of;
using test::poisoned_image;
using test::sample_at;
using test::set_sample;

Image drawn(const Image& a, const Image& b, std::uint32_t tolerance = 0) {
  Image drawing = poisoned_image(a.size(), difference_format);
  draw_difference(a.rows(), b.rows(), tolerance, drawing.rows());
  return drawing;
}

using Drawn = std::array<std::uint32_t, 3>;
constexpr Drawn within{0, 79, 58};

Drawn color_at(const Image& drawing, int x, int y) {
  return {sample_at(drawing, x, y, 0), sample_at(drawing, x, y, 1), sample_at(drawing, x, y, 2)};
}

class DifferencePictureOfFormat : public ::testing::TestWithParam<std::tuple<int, int>> {
 protected:
  [[nodiscard]] static PixelFormat format() {
    return {std::get<0>(GetParam()), std::get<1>(GetParam())};
  }
};

TEST_P(DifferencePictureOfFormat, ShowsEqualPixelsDimmedAndGrey) {
  const Image a = test::random_image({21, 13}, format(), 11);
  for (const std::uint32_t tolerance : {0U, 9U}) {
    const Image drawing = drawn(a, a, tolerance);
    for (const auto [x, y] : test::each_pixel({21, 13})) {
      const Drawn color = color_at(drawing, x, y);
      EXPECT_EQ(color[0], color[1]);
      EXPECT_EQ(color[0], color[2]);
      // BT.601's luma, rounded, then a third of its upper 8 bits.
      std::uint32_t luma = sample_at(a, x, y, 0);
      if (format().color_channels() == 3) {
        const double exact =
            0.299 * luma + 0.587 * sample_at(a, x, y, 1) + 0.114 * sample_at(a, x, y, 2);
        luma = static_cast<std::uint32_t>(exact + 0.5 + 1e-9);
      }
      EXPECT_EQ(color[0], (format().depth == 16 ? luma / 256 : luma) / 3);
    }
  }
}

TEST_P(DifferencePictureOfFormat, ShowsDifferencesRedderWithEachDoubling) {
  const int depth = format().depth;
  Image a = poisoned_image({depth, 1}, format(), 0);
  Image b = copy_of(a);
  const int channel = format().color_channels() - 1;
  for (int x = 0; x < depth; ++x)
    set_sample(b, x, 0, channel, (2U << x) - 1U);
  const Image drawing = drawn(a, b);
  EXPECT_EQ(color_at(drawing, 0, 0), (Drawn{255, 255, 0}));
  EXPECT_EQ(color_at(drawing, depth - 1, 0), (Drawn{255, 0, 0}));
  for (int x = 1; x < depth; ++x) {
    EXPECT_LT(color_at(drawing, x, 0)[1], color_at(drawing, x - 1, 0)[1]);
    EXPECT_EQ(color_at(drawing, x, 0)[0], 255);
    EXPECT_EQ(color_at(drawing, x, 0)[2], 0);
  }
  EXPECT_TRUE(test::same_pixels(drawn(b, a), drawing)) << "either may be the larger one";
}

// Every step of the range: differences within the tolerance have one colour, which no larger
// difference has, and colours beyond the tolerance do not depend on it.
TEST_P(DifferencePictureOfFormat, TellsWithinTheToleranceFromBeyond) {
  const int width = 256;
  Image a = poisoned_image({width, 1}, format(), 0);
  for (int channel = 0; channel < format().channels; ++channel) {
    Image b = copy_of(a);
    for (int x = 0; x < width; ++x)
      set_sample(b, x, 0, channel, static_cast<std::uint32_t>(x));
    const Image strict = drawn(a, b);
    for (const std::uint32_t tolerance : {1U, 7U, 8U, 254U}) {
      const Image drawing = drawn(a, b, tolerance);
      EXPECT_EQ(color_at(drawing, 0, 0), (Drawn{0, 0, 0}));
      for (int x = 1; x < width; ++x) {
        const bool is_within = static_cast<std::uint32_t>(x) <= tolerance;
        ASSERT_NE(color_at(strict, x, 0), within);
        const Drawn expected = is_within ? within : color_at(strict, x, 0);
        ASSERT_EQ(color_at(drawing, x, 0), expected) << x << ", " << tolerance;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DifferencePictureOfFormat,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4),
                                            ::testing::Values(8, 16)),
                         [](const auto& parameter) {
                           return formatted("{}Channels{}Bit", std::get<0>(parameter.param),
                                            std::get<1>(parameter.param));
                         });

TEST(DifferencePicture, ShowsAlphaThatDiffersAloneInBlue) {
  for (const int channels : {2, 4}) {
    const Image a = test::mixed_alpha_image({9, 4}, {channels, 8}, 5);
    const int alpha = channels - 1;
    Image b = copy_of(a);
    set_sample(b, 3, 2, alpha, sample_at(a, 3, 2, alpha) ^ 1U);
    set_sample(b, 4, 2, alpha, sample_at(a, 4, 2, alpha) ^ 128U);
    // If a colour differs too, it decides the hue.
    set_sample(b, 5, 2, alpha, sample_at(a, 5, 2, alpha) ^ 128U);
    set_sample(b, 5, 2, 0, sample_at(a, 5, 2, 0) ^ 1U);
    const Image strict = drawn(a, b);
    EXPECT_EQ(color_at(strict, 3, 2), (Drawn{0, 255, 255}));
    EXPECT_EQ(color_at(strict, 4, 2), (Drawn{0, 0, 255}));
    EXPECT_EQ(color_at(strict, 5, 2), (Drawn{255, 0, 0}));
    // A colour that differs within the tolerance does not.
    const Image tolerant = drawn(a, b, 1);
    EXPECT_EQ(color_at(tolerant, 3, 2), within);
    EXPECT_EQ(color_at(tolerant, 4, 2), (Drawn{0, 0, 255}));
    EXPECT_EQ(color_at(tolerant, 5, 2), (Drawn{0, 0, 255}));
  }
}

Image mapped(const Image& a, const Image& b, ImageSize size, std::uint32_t tolerance = 0) {
  DifferenceMap map({a.size(), a.format()}, size, tolerance);
  constexpr int band = 5;
  for (int y = 0; y < a.size().height; y += band) {
    const RowRange rows{y, std::min(y + band, a.size().height)};
    map.add(a.rows().part(rows), b.rows().part(rows));
  }
  return map.image();
}

TEST(DifferenceMap, OfFullSizeIsTheDrawing) {
  for (const PixelFormat format : {PixelFormat{1, 8}, {2, 16}, {3, 16}, {4, 8}}) {
    const Image a = test::random_image({37, 19}, format, 1);
    const Image b = test::random_image({37, 19}, format, 2);
    EXPECT_TRUE(test::same_pixels(mapped(a, b, a.size(), 9), drawn(a, b, 9)));
  }
}

TEST(DifferenceMap, KeepsASinglePixelVisible) {
  const Image a = test::random_image({101, 67}, {3, 8}, 1);
  for (const auto& [x, y] : {std::pair{0, 0}, {100, 66}, {50, 33}, {9, 66}}) {
    Image b = copy_of(a);
    set_sample(b, x, y, 1, sample_at(a, x, y, 1) ^ 128U);
    const Image map = mapped(a, b, {10, 7});
    int colored = 0;
    for (const auto [column, row] : test::each_pixel({10, 7})) {
      const Drawn color = color_at(map, column, row);
      if (color[0] == color[2]) continue;
      ++colored;
      EXPECT_EQ(color, (Drawn{255, 0, 0})) << "half of the range";
      EXPECT_EQ(column, x * 10 / 101);
      EXPECT_EQ(row, y * 7 / 67);
    }
    EXPECT_EQ(colored, 1) << x << ", " << y;
  }
}

TEST(DifferenceMap, EqualAreasShowTheirMeanBrightness) {
  Image a({4, 2}, {1, 8});
  for (int x = 0; x < 4; ++x) {
    for (int y = 0; y < 2; ++y)
      set_sample(a, x, y, 0, x < 2 ? static_cast<std::uint32_t>(60 * (x + y)) : 240U);
  }
  const Image map = mapped(a, a, {2, 1});
  EXPECT_EQ(color_at(map, 0, 0), (Drawn{20, 20, 20})) << "(0 + 60 + 60 + 120) / 4 / 3";
  EXPECT_EQ(color_at(map, 1, 0), (Drawn{80, 80, 80}));
}

}  // namespace
}  // namespace gpufilter

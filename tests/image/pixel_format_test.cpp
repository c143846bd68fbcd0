#include "image/pixel_format.hpp"

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

TEST(PixelFormat, CountsChannelsAndBytes) {
  constexpr PixelFormat grey{1, 8};
  constexpr PixelFormat grey_alpha{2, 16};
  constexpr PixelFormat rgb{3, 16};
  constexpr PixelFormat rgba{4, 8};
  EXPECT_FALSE(grey.has_alpha());
  EXPECT_TRUE(grey_alpha.has_alpha());
  EXPECT_FALSE(rgb.has_alpha());
  EXPECT_TRUE(rgba.has_alpha());
  EXPECT_EQ(grey.color_channels(), 1);
  EXPECT_EQ(grey_alpha.color_channels(), 1);
  EXPECT_EQ(rgb.color_channels(), 3);
  EXPECT_EQ(rgba.color_channels(), 3);
  EXPECT_EQ(grey.bytes_per_pixel(), 1U);
  EXPECT_EQ(grey_alpha.bytes_per_pixel(), 4U);
  EXPECT_EQ(rgb.bytes_per_pixel(), 6U);
  EXPECT_EQ(rgba.bytes_per_pixel(), 4U);
  EXPECT_EQ(rgba.max_sample(), 255U);
  EXPECT_EQ(rgb.max_sample(), 65535U);
}

TEST(PixelFormat, HasAName) {
  EXPECT_EQ(to_string(PixelFormat{1, 8}), "grey, 8-bit");
  EXPECT_EQ(to_string(PixelFormat{2, 16}), "grey+alpha, 16-bit");
  EXPECT_EQ(to_string(PixelFormat{3, 8}), "RGB, 8-bit");
  EXPECT_EQ(to_string(PixelFormat{4, 16}), "RGBA, 16-bit");
}

TEST(FilePixels, HaveANameToo) {
  EXPECT_EQ(to_string(FilePixels{"palette", 1, 2}), "palette, 2-bit");
  EXPECT_EQ(file_pixels({2, 16}), (FilePixels{"grey+alpha", 2, 16}));
}

}  // namespace
}  // namespace gpufilter

#include "html/small_picture.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "image/sample_arithmetic.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter::html {
namespace {

using test::sample_at;
using test::set_sample;

Image small(const Image& image, int edge, int band = 7) {
  SmallPicture collected({image.size(), image.format()}, edge);
  for (int y = 0; y < image.size().height; y += band)
    collected.add(image.rows().part({y, std::min(y + band, image.size().height)}));
  return collected.image();
}

TEST(SizeWithin, KeepsProportionsAndNeverEnlarges) {
  EXPECT_EQ(size_within({640, 480}, 640), (ImageSize{640, 480}));
  EXPECT_EQ(size_within({37, 29}, 640), (ImageSize{37, 29}));
  EXPECT_EQ(size_within({1920, 1280}, 480), (ImageSize{480, 320}));
  EXPECT_EQ(size_within({1280, 1920}, 480), (ImageSize{320, 480}));
  EXPECT_EQ(size_within({1001, 3}, 100), (ImageSize{100, 1})) << "no side vanishes";
  EXPECT_EQ(size_within({300'000'000, 1}, 1280), (ImageSize{1280, 1}));
}

TEST(SmallPicture, OfASmallPictureIsThePicture) {
  for (const int channels : {1, 3}) {
    const Image image = test::random_image({31, 17}, {channels, 8}, 1);
    EXPECT_TRUE(test::same_pixels(small(image, 31), image));
  }
}

TEST(SmallPicture, Rounds16BitsAsFilesDo) {
  const Image image = test::random_image({257, 3}, {3, 16}, 2);
  const Image result = small(image, 257);
  ASSERT_EQ(result.format(), (PixelFormat{3, 8}));
  for (const auto [x, y, c] : test::each_sample({257, 3}, 3)) {
    EXPECT_EQ(sample_at(result, x, y, c), (sample_at(image, x, y, c) * 255 + 32767) / 65535);
  }
}

TEST(SmallPicture, IsTheMeanOfItsAreas) {
  // A checkerboard of 0 and 200 in single pixels, ten times as large as the result.
  Image image({400, 200}, {1, 8});
  for (const auto [x, y] : test::each_pixel({400, 200}))
    set_sample(image, x, y, 0, (x + y) % 2 == 0 ? 200 : 0);
  const Image result = small(image, 40);
  ASSERT_EQ(result.size(), (ImageSize{40, 20}));
  for (const auto [x, y] : test::each_pixel({40, 20}))
    ASSERT_NEAR(sample_at(result, x, y, 0), 100, 4) << x << ", " << y;
}

TEST(SmallPicture, ShowsThePartsInTheirPlaces) {
  // Left half black, right half white, at a size that the result does not divide.
  Image image({1003, 701}, {3, 8});
  for (const auto [x, y, c] : test::each_sample({1003, 701}, 3))
    set_sample(image, x, y, c, x < 501 ? 0 : 255);
  const Image result = small(image, 100);
  ASSERT_EQ(result.size(), (ImageSize{100, 70}));
  for (int y = 0; y < 70; ++y) {
    EXPECT_EQ(sample_at(result, 40, y, 1), 0);
    EXPECT_EQ(sample_at(result, 60, y, 1), 255);
  }
}

TEST(SmallPicture, TransparentPartsShowACheckerboardAndNotTheirColours) {
  for (const int depth : {8, 16}) {
    const std::uint32_t max = (1U << depth) - 1;
    Image image({64, 64}, {4, depth});
    for (const auto [x, y] : test::each_pixel({64, 64})) {
      const bool is_opaque = y < 32;
      for (int c = 0; c < 3; ++c)
        set_sample(image, x, y, c, is_opaque ? 0 : max);
      set_sample(image, x, y, 3, is_opaque ? max : 0);
    }
    const Image result = small(image, 64);
    ASSERT_EQ(result.format(), (PixelFormat{3, 8}));
    EXPECT_EQ(sample_at(result, 5, 5, 0), 0) << "opaque black";
    EXPECT_EQ(sample_at(result, 5, 40, 0), 204);
    EXPECT_EQ(sample_at(result, 21, 40, 0), 153);
    // Half transparent white over the first grey: (255 + 204) / 2, rounded up.
    for (int x = 0; x < 16; ++x) {
      for (int y = 32; y < 48; ++y)
        set_sample(image, x, y, 3, depth == 8 ? 128 : 32896);
    }
    EXPECT_EQ(sample_at(small(image, 64), 5, 40, 0), 230);
  }
}

TEST(Preview, IsAJpegWithinItsBytes) {
  const test::TemporaryFolder folder;
  const Image noise = test::random_image({400, 300}, {3, 8}, 3);
  for (const std::uint64_t bytes : {200'000U, 60'000U, 8'000U, 3'000U}) {
    const std::string path = folder / "p.jpg";
    write_preview(noise, path, bytes);
    EXPECT_LE(std::filesystem::file_size(path), bytes);
    EXPECT_EQ(test::read_file(path).substr(0, 2), "\xff\xd8");
    const ImageSize size = test::read_picture(path).size();
    EXPECT_EQ(size == noise.size(), bytes >= 60'000) << "it loses quality first, then pixels";
  }
}

TEST(Preview, SaysWhyItCannotBeWritten) {
  const Image image = test::random_image({4, 4}, {1, 8}, 3);
  EXPECT_EQ(
      test::objection_to<PreviewFailure>([&] { write_preview(image, "/nowhere/p.jpg", 1000); }),
      "/nowhere/p.jpg: no such file");
}

}  // namespace
}  // namespace gpufilter::html

#include "pipeline/execute/kept_picture.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/naive_stages.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

// Adds the bands in an odd order and reads rows in other portions.
Image turned(const Image& image, const Turn& turn, int band_rows, bool in_memory, int portion) {
  KeptPicture turned({image.size(), image.format()}, turn, band_rows, in_memory, "in.png");
  EXPECT_EQ(turned.is_in_memory(), in_memory);
  const int height = image.size().height;
  for (const int odd : {1, 0}) {
    for (int i = odd; i * band_rows < height; i += 2) {
      const int y = i * band_rows;
      turned.add(image.rows().part({y, std::min(y + band_rows, height)}));
    }
  }
  KeptReader reader(turned);
  EXPECT_EQ(reader.header().size, turn.size_of(image.size()));
  EXPECT_EQ(reader.header().format, image.format());
  Image result = test::poisoned_image(reader.header().size, reader.header().format);
  for (int y = 0; y < result.size().height; y += portion) {
    const RowRange rows{y, std::min(y + portion, result.size().height)};
    reader.read(result.rows().part(rows).renumbered(100));
  }
  return result;
}

TEST(KeptPicture, GivesTheRowsOfTheKeptPicture) {
  for (const ImageSize size : {ImageSize{67, 37}, ImageSize{1, 30}, ImageSize{30, 1}}) {
    for (const PixelFormat format : {PixelFormat{1, 8}, PixelFormat{3, 8}, PixelFormat{4, 16}}) {
      const Image image = test::random_image(size, format, 1);
      for (int orientation = 1; orientation <= 8; ++orientation) {
        const Turn turn = turn_for_orientation(orientation);
        const Image expected = test::naive_turn(image, turn);
        for (const int band_rows : {1, 7, 37, 100}) {
          for (const bool in_memory : {true, false}) {
            for (const int portion : {1, 5, 1000}) {
              ASSERT_TRUE(
                  test::same_pixels(turned(image, turn, band_rows, in_memory, portion), expected))
                  << orientation << ", " << band_rows << ", " << in_memory << ", " << portion;
            }
          }
        }
      }
    }
  }
}

class TemporaryFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* former = std::getenv("TMPDIR")) former_ = former;
    ::setenv("TMPDIR", folder_.path().c_str(), 1);
  }
  void TearDown() override {
    former_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", former_.c_str(), 1);
  }

  const test::TemporaryFolder folder_;
  std::string former_;
};

TEST_F(TemporaryFiles, HaveNoName) {
  const PictureShape shape{{40, 30}, {3, 8}};
  const KeptPicture turned(shape, quarter_clockwise, 8, false, "in.png");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(TemporaryFiles, WithoutRoomAreRefused) {
  // No file system has room for it.
  const PictureShape shape{{2'000'000'000, 1'000'000'000}, {4, 8}};
  try {
    const KeptPicture turned(shape, quarter_clockwise, 8, false, "in.png");
    FAIL();
  } catch (const PictureError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(
        "in.png: it has to be kept whole, 8000000000000 MB in a temporary file, "
        "which fails in " +
        folder_.path().string() + ": "))
        << message;
    EXPECT_TRUE(message.ends_with("; raise --max-memory or set TMPDIR to another folder"))
        << message;
  }
}

}  // namespace
}  // namespace gpufilter

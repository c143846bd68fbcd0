#include <array>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "stages/geometry/geometry.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

class Whole final : public WholePicture {
 public:
  explicit Whole(const Image& image) : image_(image), shape_{image.size(), image.format()} {}
  [[nodiscard]] const PictureShape& shape() const override { return shape_; }
  void read(const MutableRows& target) const override {
    for (int y = target.rows.begin; y < target.rows.end; ++y)
      std::memcpy(target.row(y), image_.rows().row(y), target.pitch);
  }

 private:
  const Image& image_;
  PictureShape shape_;
};

// "WxH+X+Y" of what is left.
std::string left_of(const Image& image, std::uint32_t limit = 0) {
  return make_crop(content_of(Whole(image), limit))->label();
}

// All samples `value`.
Image plain(ImageSize size, const PixelFormat& format, std::uint32_t value) {
  Image image(size, format);
  for (const auto [x, y, c] : test::each_sample(size, format.channels))
    test::set_sample(image, x, y, c, value);
  return image;
}

TEST(Trim, KeepsWhatDiffersFromTheTopLeftPixel) {
  for (const int depth : {8, 16}) {
    for (const int channels : {1, 2, 3, 4}) {
      for (int c = 0; c < channels; ++c) {
        const PixelFormat format{channels, depth};
        Image image = plain({100, 300}, format, 200);
        test::set_sample(image, 40, 70, c, 201);
        EXPECT_EQ(left_of(image), "1x1+40+70");
        test::set_sample(image, 99, 250, c, 199);
        EXPECT_EQ(left_of(image), "60x181+40+70");
        test::set_sample(image, 3, 100, c, 0);
        EXPECT_EQ(left_of(image), "97x181+3+70");
        test::set_sample(image, 50, 299, c, 0);
        EXPECT_EQ(left_of(image), "97x230+3+70");
      }
    }
  }
}

TEST(Trim, AnswersAsAllPixelsDo) {
  const Image noise = test::random_image({37, 91}, {3, 8}, 1);
  EXPECT_EQ(left_of(noise), "37x91+0+0");
  // The edge at the top left stays where only that pixel is of its colour.
  Image image = plain({37, 91}, {3, 8}, 5);
  test::set_sample(image, 0, 0, 1, 6);
  EXPECT_EQ(left_of(image), "37x91+0+0");
}

TEST(Trim, LeavesAPictureOfOneColourAlone) {
  EXPECT_EQ(left_of(plain({9, 7}, {4, 16}, 1234)), "9x7+0+0");
  EXPECT_EQ(left_of(plain({1, 1}, {1, 8}, 0)), "1x1+0+0");
}

TEST(Trim, AllowsForADifference) {
  Image image = plain({20, 20}, {3, 8}, 100);
  test::set_sample(image, 4, 5, 2, 110);
  test::set_sample(image, 10, 12, 0, 89);
  EXPECT_EQ(left_of(image, 9), "7x8+4+5");
  EXPECT_EQ(left_of(image, 10), "1x1+10+12");
  EXPECT_EQ(left_of(image, 11), "20x20+0+0") << "nothing would be left";
  EXPECT_EQ(left_of(image, 255), "20x20+0+0");
}

TEST(Trim, TransparentPixelsAreAlike) {
  Image image = plain({20, 20}, {4, 8}, 0);
  test::set_sample(image, 4, 5, 0, 90);  // invisible
  EXPECT_EQ(left_of(image), "20x20+0+0");
  test::set_sample(image, 7, 9, 3, 1);
  EXPECT_EQ(left_of(image), "1x1+7+9");
}

TEST(Trim, TakesPercent) {
  Image image = plain({20, 20}, {1, 8}, 100);
  test::set_sample(image, 4, 5, 0, 112);  // 5 % of 255 is 12.75
  test::set_sample(image, 6, 5, 0, 113);
  const auto rest_of = [&](const std::shared_ptr<const Stage>& stage) {
    LoweredChain chain = test::lowered({stage}, image.format());
    EXPECT_TRUE(meet_demand(chain, 0, Whole(image)));
    return chain.at(0).steps.at(0)->title().label;
  };
  EXPECT_EQ(rest_of(trim_stage_kind().make("", {{"--fuzz", "5"}})), "1x1+6+5");
  EXPECT_EQ(rest_of(make_trim(0)), "3x1+4+5");
  EXPECT_THROW(static_cast<void>(trim_stage_kind().make("", {{"--fuzz", "101"}})), UsageError);
}

}  // namespace
}  // namespace gpufilter

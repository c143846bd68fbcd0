// How "gpufilter compare" treats differences within and beyond a tolerance.
#include <gtest/gtest.h>

#include "cli/compare_fixture.hpp"
#include "compare/difference_picture.hpp"

namespace gpufilter::test {
namespace {

// Two pictures of 527 pixels that differ in two: by 5 at (1, 1) and by 9 at (2, 2).
class CompareTolerance : public CompareTest {
 protected:
  const Image image_a_ = poisoned_image(size_, format_, 50);
  const Image image_b_ = moved(moved(image_a_, 1, 1, 0, 5), 2, 2, 0, 9);
  const std::string a_ = stored(image_a_, "a.png");
  const std::string b_ = stored(image_b_, "b.png");
};

constexpr const char* differences =
    "PSNR 59.87 dB, SSIM more than 0.9999\n"
    "channel      differing   maximum          mean\n"
    "red                  2         9     0.0265655\n"
    "green                0         0             0\n"
    "blue                 0         0             0\n";

TEST_F(CompareTolerance, NamesTheFirstAndTheWorstPixelBeyondIt) {
  const ProcessResult none = ended(2, compare({a_, b_}));
  EXPECT_EQ(none.out, a_ + " and " + b_ +
                          " are different: 2 of 527 pixels (0.38 %) differ, by at most 9\n"
                          "first at x 1, y 1: A (50, 50, 50), B (55, 50, 50)\n"
                          "worst at x 2, y 2: A (50, 50, 50), B (59, 50, 50)\n" +
                          differences);
  const ProcessResult some = ended(2, compare({a_, b_, "--tolerance=8"}));
  EXPECT_EQ(some.out, a_ + " and " + b_ +
                          " are different: 2 of 527 pixels (0.38 %) differ, by at most 9\n"
                          "beyond the tolerance of 8: 1 of 527 pixels (0.19 %)\n"
                          "first beyond the tolerance at x 2, y 2: A (50, 50, 50), B (59, 50, 50)\n"
                          "worst at x 2, y 2: A (50, 50, 50), B (59, 50, 50)\n" +
                          differences);
  const ProcessResult all = ended(1, compare({a_, b_, "--tolerance=9"}));
  EXPECT_EQ(all.out, a_ + " and " + b_ +
                         " are equal within the tolerance of 9: 2 of 527 pixels (0.38 %) differ, "
                         "by at most 9\n"
                         "beyond the tolerance of 9: 0 of 527 pixels (0.00 %)\n"
                         "first at x 1, y 1: A (50, 50, 50), B (55, 50, 50)\n"
                         "worst at x 2, y 2: A (50, 50, 50), B (59, 50, 50)\n" +
                         differences);
}

// One of 527 pixels is 0.18975... percent.
TEST_F(CompareTolerance, FailPercentLetsAShareOfPixelsPass) {
  EXPECT_EQ(compare({a_, b_, "--tolerance=8", "--fail-percent", "0.18"}).exit_code, 2);
  const ProcessResult result =
      ended(1, compare({a_, b_, "--tolerance=8", "--fail-percent", "0.19"}));
  EXPECT_TRUE(
      result.out.starts_with(a_ + " and " + b_ +
                             " are equal within the tolerance of 8 in all but 0.19 % of the "
                             "pixels: 2 of 527 pixels (0.38 %) differ, by at most 9\n"
                             "beyond the tolerance of 8: 1 of 527 pixels (0.19 %)\n"))
      << result.out;
  // Without --tolerance, every difference is beyond it.
  EXPECT_EQ(compare({a_, b_, "--fail-percent", "0.37"}).exit_code, 2);
  EXPECT_EQ(compare({a_, b_, "--fail-percent", "+.38"}).exit_code, 1);
  EXPECT_EQ(compare({a_, b_, "--fail-percent=100"}).exit_code, 1);
  EXPECT_EQ(compare({a_, a_, "--fail-percent=100"}).exit_code, 0);
  const std::string other = stored(random_image({1, 1}, format_, 1), "other.png");
  EXPECT_EQ(compare({a_, other, "--fail-percent=100"}).exit_code, 3);
}

TEST_F(CompareTolerance, JsonNamesWhatLiesBeyond) {
  const Json json = compare_json(
      {a_, b_, "--tolerance", "8", "--fail-percent", "0.33333333333333333333333333"}, 1);
  EXPECT_EQ(json["result"], "within_tolerance");
  EXPECT_EQ(json["tolerance"], 8);
  EXPECT_EQ(json["fail_percent"].get<double>(), 1.0 / 3);
  EXPECT_EQ(json["pixels"]["beyond_tolerance"], 1);
  EXPECT_EQ(json["pixels"]["beyond_tolerance_share"].get<double>(), 1.0 / 527);
  EXPECT_EQ(json["first"]["x"], 1);
  const Json beyond{{"x", 2}, {"y", 2}, {"a", {50, 50, 50}}, {"b", {59, 50, 50}}};
  EXPECT_EQ(json["first_beyond_tolerance"], beyond);
  EXPECT_EQ(json["worst"], beyond);
  EXPECT_EQ(compare_json({a_, b_, "--tolerance=9"}, 1)["first_beyond_tolerance"], nullptr);
}

TEST_F(CompareTolerance, DrawsWhatLiesWithinUnlikeWhatLiesBeyond) {
  const std::string drawing = folder_ / "drawing.png";
  EXPECT_EQ(compare({a_, b_, "--tolerance=8", "--diff", drawing}).exit_code, 2);
  Image expected = poisoned_image(size_, difference_format);
  draw_difference(image_a_.rows(), image_b_.rows(), 8, expected.rows());
  EXPECT_TRUE(same_pixels(read_picture(drawing), expected));
}

}  // namespace
}  // namespace gpufilter::test

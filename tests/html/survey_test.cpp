#include "html/survey.hpp"

#include <array>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "compare/comparison.hpp"
#include "stages/colour/color_profile.hpp"
#include "support/objection.hpp"
#include "support/oriented_files.hpp"
#include "support/pictures.hpp"
#include "support/svg.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter::html {
namespace {

namespace fs = std::filesystem;

class Surveying : public ::testing::Test {
 protected:
  [[nodiscard]] Survey survey(const Image* before, const Image* after, int edge = 50) const {
    SurveyRequest request;
    request.before = source_of(before, "a.png");
    request.after = source_of(after, "b.png");
    request.previews = {edge, 100'000};
    request.before_file = folder_ / "before.jpg";
    request.after_file = folder_ / "after.jpg";
    request.difference_file = folder_ / "difference.jpg";
    request.before_label = "Before";
    request.after_label = "After";
    return survey_pictures(std::move(request));
  }

  [[nodiscard]] std::unique_ptr<ByteSource> source_of(const Image* image,
                                                      const std::string& name) const {
    if (image == nullptr) return nullptr;
    test::write_png(*image, folder_ / name);
    return open_source(folder_ / name);
  }

  [[nodiscard]] bool exists(const std::string& name) const { return fs::exists(folder_ / name); }

  test::TemporaryFolder folder_;
};

TEST_F(Surveying, ComparesAllPixelsAndDrawsWhereTheyDiffer) {
  for (const PixelFormat format : {PixelFormat{3, 8}, {2, 16}, {4, 8}, {1, 16}}) {
    const Image a = test::random_image({211, 97}, format, 1);
    const Image b = test::random_image({211, 97}, format, 2);
    const Survey found = survey(&a, &b);
    Comparer comparer(a.size(), format, {});
    comparer.add(a.rows(), b.rows());
    ASSERT_TRUE(found.comparison);
    EXPECT_EQ(found.comparison->differing_pixels, comparer.result().differing_pixels);
    EXPECT_EQ(found.comparison->maximum(), comparer.result().maximum());
    EXPECT_EQ(found.comparison->psnr(), comparer.result().psnr());
    EXPECT_TRUE(found.has_difference);
    for (const char* name : {"before.jpg", "after.jpg", "difference.jpg"})
      EXPECT_EQ(test::read_picture(folder_ / name).size(), (ImageSize{50, 23})) << name;
    EXPECT_EQ(found.before->preview, (ImageSize{50, 23}));
    EXPECT_EQ(found.before->size, a.size());
    EXPECT_EQ(found.after->format, format);
    EXPECT_EQ(test::objection_to_svg(found.after->histograms), "");
    EXPECT_EQ(test::count_of(found.after->histograms, "aria-label=\"Histogram: After\""), 1U);
  }
}

TEST_F(Surveying, EqualPicturesHaveNoDifference) {
  const Image a = test::random_image({40, 30}, {3, 8}, 1);
  const Survey found = survey(&a, &a);
  EXPECT_EQ(found.comparison->differing_pixels, 0U);
  EXPECT_FALSE(found.has_difference);
  EXPECT_FALSE(exists("difference.jpg"));
  EXPECT_EQ(found.before->histograms.substr(found.before->histograms.find("<path")),
            found.after->histograms.substr(found.after->histograms.find("<path")));
}

TEST_F(Surveying, PicturesOfAnotherShapeAreShownAndNotCompared) {
  const Image a = test::random_image({40, 30}, {3, 8}, 1);
  const Image taller = test::random_image({40, 31}, {3, 8}, 1);
  const Image grey = test::random_image({40, 30}, {1, 8}, 1);
  for (const Image* b : {&taller, &grey}) {
    const Survey found = survey(&a, b);
    EXPECT_FALSE(found.comparison);
    EXPECT_FALSE(found.has_difference);
    EXPECT_EQ(found.after->size, b->size());
    EXPECT_TRUE(exists("before.jpg") && exists("after.jpg"));
  }
}

TEST_F(Surveying, PreviewsAreUprightAndInSrgb) {
  const std::string bytes = test::read_file(GPUFILTER_SOURCE "/samples/profiles/display-p3.icc");
  const IccProfile display_p3{"icc", {bytes.begin(), bytes.end()}};
  const std::array<std::uint8_t, 3> left{200, 100, 90};
  Image stored({60, 40}, {3, 8});  // its left becomes the top
  for (const auto [x, y] : test::each_pixel({60, 40})) {
    for (std::size_t c = 0; c < 3; ++c)
      stored.rows().row(y)[3 * x + static_cast<int>(c)] = x < 30 ? left.at(c) : 20;
  }
  test::write_oriented(stored, folder_ / "phone.png", 6, display_p3);
  SurveyRequest request;
  request.before = open_source(folder_ / "phone.png");
  request.previews = {60, 100'000};
  request.before_file = folder_ / "before.jpg";
  EXPECT_EQ(survey_pictures(std::move(request)).before->preview, (ImageSize{40, 60}));
  const Image shown = test::read_picture(folder_ / "before.jpg");
  EXPECT_EQ(shown.size(), (ImageSize{40, 60}));
  std::array<std::uint8_t, 3> expected{};
  ProfileConversion(display_p3, {}, srgb_profile(), {}, {})
      .convert(left.data(), expected.data(), 1);
  EXPECT_GT(expected[0], left[0] + 5) << "another colour";
  for (int c = 0; c < 3; ++c) {
    EXPECT_NEAR(test::sample_at(shown, 20, 10, c), expected.at(static_cast<std::size_t>(c)), 3);
    EXPECT_NEAR(test::sample_at(shown, 20, 50, c), 20, 3);
  }
}

TEST_F(Surveying, PicturesOfOtherOrientationsAreNotCompared) {
  const Image a = test::random_image({40, 40}, {3, 8}, 1);
  const Image b = test::random_image({40, 40}, {3, 8}, 2);
  const auto compared = [&](int of_a, int of_b) {
    test::write_oriented(a, folder_ / "a.png", of_a);
    test::write_oriented(b, folder_ / "b.png", of_b);
    SurveyRequest request;
    request.before = open_source(folder_ / "a.png");
    request.after = open_source(folder_ / "b.png");
    request.previews = {50, 100'000};
    request.before_file = folder_ / "before.jpg";
    request.after_file = folder_ / "after.jpg";
    request.difference_file = folder_ / "difference.jpg";
    return survey_pictures(std::move(request)).comparison.has_value();
  };
  EXPECT_TRUE(compared(6, 6));
  EXPECT_FALSE(compared(6, 1));
}

TEST_F(Surveying, OnePictureIsEnough) {
  const Image a = test::random_image({40, 30}, {3, 8}, 1);
  const Survey found = survey(nullptr, &a);
  EXPECT_FALSE(found.before);
  EXPECT_FALSE(found.comparison);
  EXPECT_TRUE(found.after);
  EXPECT_FALSE(exists("before.jpg"));
}

TEST_F(Surveying, ADamagedPictureIsNamed) {
  const Image a = test::random_image({400, 300}, {3, 8}, 1);
  test::write_png(a, folder_ / "a.png");
  test::write_file(folder_ / "torn.png", test::read_file(folder_ / "a.png").substr(0, 9000));
  SurveyRequest request;
  request.before = open_source(folder_ / "a.png");
  request.after = open_source(folder_ / "torn.png");
  request.previews = {50, 100'000};
  EXPECT_EQ(test::objection_to<PictureError>([&] { return survey_pictures(std::move(request)); }),
            (folder_ / "torn.png") + ": the file ends too early");
}

TEST(PreviewLimits, KeepAThousandPicturesUnder22Megabytes) {
  EXPECT_EQ(preview_limits(1).edge, 1280);
  EXPECT_EQ(preview_limits(1000).edge, 320);
  EXPECT_EQ(preview_limits(5000).edge, 320);
  std::uint64_t before = UINT64_MAX;
  for (const std::size_t pictures : {1U, 2U, 12U, 13U, 60U, 61U, 300U, 301U, 999U, 1000U}) {
    const PreviewLimits limits = preview_limits(pictures);
    EXPECT_LE(3 * limits.bytes * pictures, 22'000'000U) << pictures;
    EXPECT_LE(limits.bytes, before);
    before = limits.bytes;
  }
}

}  // namespace
}  // namespace gpufilter::html

#include "html/survey.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "pipeline/comparison.hpp"
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
  try {
    static_cast<void>(survey_pictures(std::move(request)));
    FAIL() << "no exception";
  } catch (const PictureError& error) {
    EXPECT_EQ(error.what(), (folder_ / "torn.png") + ": the file ends too early");
  }
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

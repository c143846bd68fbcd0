#include "html/survey.hpp"

#include "compare/comparison.hpp"
#include "image/sample_arithmetic.hpp"
#include "stages/colour/color_profile.hpp"
#include "support/document_checks.hpp"
#include "support/oriented_files.hpp"

namespace gpufilter::html {
namespace {

namespace fs = std::filesystem;

struct Surveying : ::testing::Test {
  [[nodiscard]] Survey survey(const Image* before, const Image* after) const {
    return survey_files(source_of(before, "a.png"), source_of(after, "b.png"));
  }

  [[nodiscard]] Survey survey_files(std::unique_ptr<ByteSource> before,
                                    std::unique_ptr<ByteSource> after, int edge = 50) const {
    SurveyRequest request;
    request.before = {std::move(before), "Before", folder_ / "before.jpg", "before.jpg"};
    request.after = {std::move(after), "After", folder_ / "after.jpg", "after.jpg"};
    request.previews = {edge, 100'000};
    request.difference_file = folder_ / "difference.jpg";
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
    EXPECT_EQ(found.before->label, "Before");
    EXPECT_EQ(found.after->address, "after.jpg");
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
    EXPECT_EQ(found.after->preview, size_within(b->size(), 50));
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
  EXPECT_EQ(survey_files(open_source(folder_ / "phone.png"), nullptr, 60).before->preview,
            (ImageSize{40, 60}));
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
    return survey_files(open_source(folder_ / "a.png"), open_source(folder_ / "b.png"))
        .comparison.has_value();
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
  test::write_png(test::random_image({400, 300}, {3, 8}, 1), folder_ / "a.png");
  test::write_file(folder_ / "torn.png", test::read_file(folder_ / "a.png").substr(0, 9000));
  EXPECT_EQ(test::objection_to<PictureError>([&] {
              return survey_files(open_source(folder_ / "a.png"),
                                  open_source(folder_ / "torn.png"));
            }),
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

TEST(SmallPicture, OfASmallPictureIsThePictureIn8Bits) {
  for (const int channels : {1, 3}) {
    const Image image = test::random_image({31, 17}, {channels, 8}, 1);
    EXPECT_TRUE(test::same_pixels(small(image, 31), image));
  }
  const Image image = test::random_image({257, 3}, {3, 16}, 2);
  const Image result = small(image, 257);
  ASSERT_EQ(result.format(), (PixelFormat{3, 8}));
  for (const auto [x, y, c] : test::each_sample({257, 3}, 3))
    EXPECT_EQ(sample_at(result, x, y, c), (sample_at(image, x, y, c) * 255 + 32767) / 65535);
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

TEST(Preview, IsAJpegWithinItsBytesIfItCanBeWritten) {
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
  const Image image = test::random_image({4, 4}, {1, 8}, 3);
  EXPECT_EQ(
      test::objection_to<PreviewFailure>([&] { write_preview(image, "/nowhere/p.jpg", 1000); }),
      "/nowhere/p.jpg: no such file");
}

}  // namespace
}  // namespace gpufilter::html

// The samples, and the comparison of pictures: a check that cannot fail proves nothing.

#include "support/process.hpp"

#ifndef GPUFILTER_SAMPLES_GENERATOR
#define GPUFILTER_SAMPLES_GENERATOR ""
#endif

namespace gpufilter::test {
namespace {

TEST(SamePixels, NamesTheFirstOfAllDifferences) {
  const Image a = poisoned_image({5, 4}, {3, 16}, 1);
  Image b = copy_of(a);
  set_sample(b, 4, 2, 1, 7);
  set_sample(b, 0, 3, 0, 8);
  const auto result = same_pixels(a, b);
  EXPECT_FALSE(result);
  EXPECT_STREQ(result.message(),
               "5x4, RGB, 16-bit, first difference at x 4, y 2, channel 1: 257 and 7; 2 samples "
               "differ");
  EXPECT_TRUE(same_pixels(a.rows().part({0, 2}), b.rows().part({0, 2})));
}

TEST(SamePixels, LooksAtNoPadding) {
  const Image a = poisoned_image({5, 4}, {3, 8}, 1);
  Image b = poisoned_image({5, 4}, {3, 8}, 2);
  EXPECT_FALSE(same_pixels(a, b));
  for (const auto [x, y, channel] : each_sample({5, 4}, 3))
    set_sample(b, x, y, channel, 1);
  EXPECT_TRUE(same_pixels(a, b));
}

TEST(SamePixels, WantsTheSameShape) {
  const Image a = poisoned_image({5, 4}, {3, 8});
  EXPECT_FALSE(same_pixels(a, poisoned_image({4, 5}, {3, 8})));
  EXPECT_FALSE(same_pixels(a, poisoned_image({5, 4}, {1, 8})));
  EXPECT_FALSE(same_pixels(a, poisoned_image({5, 4}, {3, 16})));
  EXPECT_TRUE(same_pixels(a, poisoned_image(5, {10, 14}, {3, 8}))) << "rows count from their first";
}

// Only the PNG files; the JPEG's samples depend on the version of the encoder and decoder.
constexpr const char* lossless[] = {"landscape.png", "badge-alpha.png", "gradient-16bit.png",
                                    "grey.png"};

std::string committed(const std::string& name) {
  return std::string(GPUFILTER_SOURCE) + "/samples/" + name;
}

ProcessResult generate(const std::string& folder) {
  return run_process({GPUFILTER_SAMPLES_GENERATOR, folder, "1"});  // which compresses fast
}

#define REQUIRE_GENERATOR()                             \
  if (std::string(GPUFILTER_SAMPLES_GENERATOR).empty()) \
  GTEST_SKIP() << "skipped: built without GPUFILTER_BUILD_SAMPLES"

TEST(Samples, GeneratorReproducesThem) {
  REQUIRE_GENERATOR();
  const TemporaryFolder folder;
  ended(0, generate(folder.path()));
  EXPECT_TRUE(fs::exists(folder / "landscape.jpg"));
  for (const char* name : lossless)
    EXPECT_TRUE(same_pixels(read_picture(folder / name), read_picture(committed(name)))) << name;
}

TEST(Samples, AreWhatTheirNamesSay) {
  const auto check = [](const std::string& name, ImageSize size, PixelFormat format) {
    const Image picture = read_picture(committed(name));
    EXPECT_EQ(picture.size(), size) << name;
    EXPECT_EQ(picture.format(), format) << name;
  };
  check("landscape.png", {1920, 1280}, {.channels = 3, .depth = 8});
  check("landscape.jpg", {1920, 1280}, {.channels = 3, .depth = 8});
  check("grey.png", {640, 427}, {.channels = 1, .depth = 8});
  check("badge-alpha.png", {512, 512}, {.channels = 4, .depth = 8});
  check("gradient-16bit.png", {320, 240}, {.channels = 3, .depth = 16});
}

TEST(Samples, GeneratorRefusesAFolderThatIsNotThere) {
  REQUIRE_GENERATOR();
  EXPECT_TRUE(
      contains(ended(1, generate("/nowhere/at/all")).err, "/nowhere/at/all/badge-alpha.png"));
}

}  // namespace
}  // namespace gpufilter::test

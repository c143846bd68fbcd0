// "gpufilter info": what pictures are, from their headers.
#include "cli/filter_fixture.hpp"

namespace gpufilter::test {
namespace {

class Info : public FilterTest {
 protected:
  [[nodiscard]] ProcessResult info(const std::vector<std::string>& words) const {
    std::vector<std::string> command{"info"};
    command.insert(command.end(), words.begin(), words.end());
    return filter(command, {.folder = folder_.path()});
  }
};

TEST_F(Info, NamesFormatSizeAndCoding) {
  const std::string photo = GPUFILTER_SOURCE "/samples/landscape.jpg";
  const ProcessResult result = ended(0, info({photo}));
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(result.out.starts_with(photo + ": JPEG, 1920x1280, RGB, 8-bit, ")) << result.out;
  EXPECT_TRUE(contains(result.out, "\n  coding       quality 88, 4:2:0\n"));
}

TEST_F(Info, SaysHowAPictureIsShownAndWhatElseTheFileHolds) {
  const ProcessResult turned = info({GPUFILTER_SHARED "/cases/jpeg-orientation-6-as-long.jpg"});
  if (turned.exit_code != 0) GTEST_SKIP() << "no pictures in " GPUFILTER_SHARED;
  EXPECT_TRUE(contains(turned.out, "  orientation  6: shown turned by 90 degrees, 50x67\n"));
  const std::string pages = info({GPUFILTER_SHARED "/cases/tiff-3-pages.tif"}).out;
  EXPECT_TRUE(pages.ends_with("  not read     2 more pages\n")) << pages;
}

TEST_F(Info, NamesWhatCannotBeReadAndGoesOn) {
  static_cast<void>(stored(random_image({5, 4}, {1, 16}, 1), "a.png"));
  const ProcessResult result = ended(1, info({"missing.png", "a.png"}));
  EXPECT_EQ(result.err, "gpufilter: missing.png: no such file\n");
  EXPECT_TRUE(result.out.starts_with("a.png: PNG, 5x4, grey, 16-bit, ")) << result.out;
}

}  // namespace
}  // namespace gpufilter::test

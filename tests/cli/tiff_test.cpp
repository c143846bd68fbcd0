// TIFF files as users of science, maps and print shops have them.
#include "cli/filter_fixture.hpp"

namespace gpufilter::test {
namespace {

class TiffFiles : public FilterTest {
 protected:
  static std::string case_path(const std::string& name) {
    return std::string(GPUFILTER_SOURCE) + "/tests/cases/" + name;
  }

  // What a run says about the picture.
  std::string account(const std::string& name, const std::string& output,
                      std::vector<std::string> words = {}) {
    words.insert(words.begin(), {case_path(name), folder_ / output});
    words.insert(words.end(), {"--timing", "off"});
    return ended(0, filter(words)).err;
  }
};

TEST_F(TiffFiles, KeepGeoTagsWhileTheGeometryStays) {
  EXPECT_EQ(account("tiff-geotags.tif", "blurred.tif", {"--blur", "auto"}), "");
  EXPECT_TRUE(
      contains(read_file(folder_ / "blurred.tif"),
               std::string("\x00\x00\x00\x00\x00\x00\x24\x40", 8)));  // the scale of the model, 10
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--crop", "20x20+1+1"}, {"--flip"}, {"--rotate", "180"}, {"--resize", "50%"}}) {
    const std::string text = account("tiff-geotags.tif", words[0].substr(2) + ".tif", words);
    EXPECT_TRUE(contains(text, "GeoTIFF")) << words[0] << text;
    EXPECT_TRUE(contains(text, "GDAL no-data value")) << words[0] << text;
  }
  EXPECT_TRUE(contains(account("tiff-geotags.tif", "a.png"), "GeoTIFF"));
}

TEST_F(TiffFiles, AreRefusedRatherThanReadWrongly) {
  expect_failure(1, {case_path("hostile-tiff-deflate-one-bit-flipped.tif"), folder_ / "a.png"},
                 {"damaged TIFF: "});
  expect_failure(1, {case_path("hostile-tiff-jpeg-strip-cut-in-half.tif"), folder_ / "a.png"},
                 {"damaged TIFF: "});
}

TEST_F(TiffFiles, OfNumbersHaveARange) {
  const std::string command = "--range";
  expect_failure(2, {case_path("tiff-geotags.tif"), folder_ / "a.png", command, "1"},
                 {"--range 1: write LOW,HIGH"});
  expect_failure(2, {case_path("tiff-geotags.tif"), folder_ / "a.png", command, "2,2"},
                 {"--range 2,2: LOW must be below HIGH"});
  EXPECT_EQ(account("tiff-signed-16bit.tif", "a.png", {command, "-1000,1000"}),
            "gpufilter: warning: " + case_path("tiff-signed-16bit.tif") +
                ": its 16-bit samples with a sign become samples of 16 bits, -1000 to 1000 the "
                "whole range\n");
  const Image image = read_picture(folder_ / "a.png");
  EXPECT_EQ(sample_at(image, 0, 0, 0), 0U);
  EXPECT_EQ(sample_at(image, 1, 0, 0), 32768U);
  EXPECT_EQ(sample_at(image, 2, 0, 0), 65535U);
}

}  // namespace
}  // namespace gpufilter::test

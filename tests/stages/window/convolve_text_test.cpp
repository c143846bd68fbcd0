// The value of --convolve: a matrix written out, or a file.
#include <string>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "stages/window/window_stages.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

std::string convolve_key(const std::string& value, const GivenParameters& given = {}) {
  return convolve_stage_kind().make(value, given)->key();
}

TEST(ConvolveText, HasScaleAndOffset) {
  EXPECT_EQ(convolve_key("1 2 1; 2 4 2; 1 2 1"),
            convolve_key("1,2,1;2,4,2;1,2,1", {{"--scale", "16"}}));
  EXPECT_EQ(convolve_key("1 -2 1"), convolve_key("1 -2 1", {{"--scale", "1"}, {"--offset", "0"}}));
  EXPECT_EQ(convolve_key("1 -2 1", {{"--scale", "-1"}}),
            convolve_key("-1 2 -1", {{"--scale", "1"}}));
  EXPECT_NE(convolve_key("1 -2 1"), convolve_key("1 -2 1", {{"--offset", "50%"}}));
  EXPECT_NE(convolve_key("1 -2 1", {{"--offset", "50"}}),
            convolve_key("1 -2 1", {{"--offset", "50%"}}));
}

TEST(ConvolveText, MayBeAFileOfLibvipsOrOfRows) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "vips.mat", "3 3 8 128\n-1 -1 -1\n-1 16 -1\n-1 -1 -1\n");
  EXPECT_EQ(convolve_key(folder / "vips.mat"),
            convolve_key("-1 -1 -1; -1 16 -1; -1 -1 -1", {{"--scale", "8"}, {"--offset", "128"}}));
  EXPECT_EQ(convolve_key(folder / "vips.mat", {{"--scale", "auto"}, {"--offset", "0"}}),
            convolve_key("-1 -1 -1; -1 16 -1; -1 -1 -1", {{"--scale", "8"}}));
  test::write_file(folder / "short.mat", "3 1\n1 2 1\n");  // scale 1, as libvips
  EXPECT_EQ(convolve_key(folder / "short.mat"), convolve_key("1 2 1", {{"--scale", "1"}}));
  test::write_file(folder / "rows.txt", "# a comment\n1 2 1\r\n2, 4, 2\n1 2 1 # more\n");
  EXPECT_EQ(convolve_key(folder / "rows.txt"), convolve_key("1 2 1; 2 4 2; 1 2 1"));
}

std::string convolve_objection(const std::string& value, const GivenParameters& given = {}) {
  return test::objection_to_value(convolve_stage_kind(), value, given);
}

TEST(ConvolveText, RefusesWhatIsNoMatrix) {
  EXPECT_EQ(convolve_objection("1 2; 3 4"),
            "--convolve: 2x2 numbers; each side is odd, from 1 to 15");
  EXPECT_EQ(convolve_objection("1 2 3; 4 5 6"),
            "--convolve: 3x2 numbers; each side is odd, from 1 to 15");
  EXPECT_EQ(convolve_objection("1 2 3; 4 5; 1 2 3"),
            "--convolve: row 2: 2 numbers, but the first row has 3");
  EXPECT_EQ(convolve_objection("1 2 x"), "--convolve 1 2 x: neither a matrix nor a file");
  EXPECT_EQ(convolve_objection("none.mat"), "--convolve none.mat: neither a matrix nor a file");
  EXPECT_EQ(convolve_objection("1 2e 3"), "--convolve: row 1: '2e' is not a number");
  EXPECT_EQ(convolve_objection("1 , , 3"), "--convolve: row 1: ',' without a number before it");
  EXPECT_EQ(convolve_objection("1 2 1", {{"--scale", "0"}}),
            "--convolve: the scale is 0, and cannot divide");
  EXPECT_EQ(convolve_objection("1 2 1", {{"--scale", "few"}}), "--scale: 'few' is not a number");
  EXPECT_EQ(convolve_objection("1 2 1", {{"--offset", "65536"}}),
            "--convolve: the offset has to be from -65535 to 65535");
  EXPECT_EQ(convolve_objection("1 2 1", {{"--offset", "-101%"}}),
            "--convolve: the offset has to be from -100 to 100%");
  std::string wide;
  for (int i = 0; i < 17; ++i)
    wide += "1 ";
  EXPECT_EQ(convolve_objection(wide), "--convolve: 17x1 numbers; each side is odd, from 1 to 15");
}

TEST(ConvolveText, RefusesNumbersThatAreTooLarge) {
  EXPECT_EQ(convolve_objection("1 1e7 1", {{"--scale", "1"}}),
            "--convolve: the coefficients, divided by the scale of 1, add up to more than 1048576 "
            "without their signs; use a larger --scale");
  const auto too_large = [](int scale) {
    return formatted(
        "--convolve: whole numbers are summed exactly, which these are too large for; divide them "
        "and --scale ({}) by a common factor",
        scale);
  };
  EXPECT_EQ(convolve_objection("1 10000000 1"), too_large(10'000'002));
  EXPECT_EQ(convolve_objection("-524288 0 524288", {{"--scale", "1048576"}}), "none");
  EXPECT_EQ(convolve_objection("-524288 0 524289", {{"--scale", "1048576"}}), too_large(1'048'576));
  EXPECT_EQ(convolve_objection("1 2 1", {{"--scale", "1048577"}}), too_large(1'048'577));
  EXPECT_EQ(convolve_objection("1.5 2 1", {{"--scale", "1048577"}}), "none");  // decimals
}

// 2^14 * 2^15 is the largest product.
TEST(ConvolveText, RefusesNumbersThatAreTooLargeForWeightsOfAlpha) {
  EXPECT_EQ(convolve_objection("32768", {{"--scale", "2"}}), "none");
  EXPECT_EQ(convolve_objection("32769", {{"--scale", "2"}}),
            "--convolve: these whole numbers are too large to be weighted by alpha exactly; use "
            "--alpha independent, or divide them and --scale (2) by a common factor");
  EXPECT_EQ(convolve_objection("32769", {{"--scale", "2"}, {"--alpha", "independent"}}), "none");
  EXPECT_EQ(convolve_objection("-32769", {{"--scale", "2"}}),
            "none");  // there is no mean to be weighted
}

}  // namespace
}  // namespace gpufilter

// Metadata as other programs write it: read as they mean it, and right for the result.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "cli/program_fixture.hpp"
#include "codec/byte_source.hpp"
#include "codec/codec_table.hpp"
#include "image/exif_orientation.hpp"
#include "stages/colour/color_profile.hpp"

namespace gpufilter::test {
namespace {

std::string case_path(const std::string& name) {
  return GPUFILTER_SOURCE "/tests/cases/" + name;
}

class ForeignMetadata : public ProgramTest {
 protected:
  static void SetUpTestSuite() {
    if (run_process({"sh", "-c", "command -v exiftool"}).exit_code != 0)
      GTEST_SKIP() << "skipped: libimage-exiftool-perl is not installed";
  }

  static std::string exiftool(std::vector<std::string> words) {
    words.insert(words.begin(), "exiftool");
    return run_process(std::move(words)).out;
  }

  // A 64x48 picture with what ExifTool's arguments say.
  std::string tagged(const std::string& name, std::vector<std::string> tags) const {
    const std::string path = stored(random_image({64, 48}, {3, 8}, 1), "plain.png");
    const std::string file = folder_ / name;
    filter_quietly({path, file, "--on-exists", "overwrite"});
    tags.insert(tags.end(), {"-q", "-n", "-overwrite_original", file});
    exiftool(std::move(tags));
    return file;
  }

  static PictureHeader header_of(const std::string& path) {
    return open_picture(open_source(path))->header();
  }
};

TEST_F(ForeignMetadata, OrientationMayBeALongInteger) {
  const std::string out = folder_ / "out.png";
  filter_quietly({case_path("jpeg-orientation-6-as-long.jpg"), out, "--auto-orient"});
  EXPECT_EQ(read_picture(out).size(), (ImageSize{50, 67}));
  EXPECT_EQ(stored_orientation(header_of(out).metadata).value_or(1), 1);
}

TEST_F(ForeignMetadata, OrientationOfXmpAloneIsApplied) {
  for (const char* name : {"in.jpg", "in.png", "in.webp", "in.tif"}) {
    if (codec_of_name(name) == nullptr) continue;
    const std::string in = tagged(name, {"-XMP-tiff:Orientation=6"});
    const std::string out = folder_ / (std::string("out-") + name);
    filter_quietly({in, out, "--auto-orient"});
    EXPECT_EQ(read_picture(out).size(), (ImageSize{48, 64})) << name;
    EXPECT_EQ(exiftool({"-n", "-s3", "-XMP-tiff:Orientation", out}), "1\n") << name;
    // Without XMP it is in EXIF.
    const std::string stripped = folder_ / (std::string("stripped-") + name);
    filter_quietly({in, stripped, "--strip"});
    EXPECT_EQ(exiftool({"-n", "-s3", "-IFD0:Orientation", stripped}), "6\n") << name;
  }
}

TEST_F(ForeignMetadata, SizesAreThoseOfTheResult) {
  const std::string shared = folder_ / "shared.jpg";
  filter_quietly({case_path("jpeg-exif-pixel-dimensions.jpg"), shared, "--resize", "20x"});
  EXPECT_EQ(exiftool({"-s3", "-ExifImageWidth", "-ExifImageHeight", shared}), "20\n15\n");
  for (const char* name : {"in.jpg", "in.png", "in.webp"}) {
    if (codec_of_name(name) == nullptr) continue;
    const std::string in =
        tagged(name, {"-ExifImageWidth=64", "-ExifImageHeight=48", "-XMP-tiff:ImageWidth=64",
                      "-XMP-tiff:ImageHeight=48", "-XMP-exif:ExifImageWidth=64",
                      "-XMP-exif:ExifImageHeight=48"});
    const std::string out = folder_ / (std::string("out-") + name);
    filter_quietly({in, out, "--crop", "32x16+0+0"});
    EXPECT_EQ(exiftool({"-s3", "-ExifIFD:ExifImageWidth", "-ExifIFD:ExifImageHeight",
                        "-XMP-tiff:ImageWidth", "-XMP-tiff:ImageHeight", "-XMP-exif:ExifImageWidth",
                        "-XMP-exif:ExifImageHeight", out}),
              "32\n16\n32\n16\n32\n16\n")
        << name;
    EXPECT_FALSE(contains(exiftool({"-validate", "-warning", "-a", "-s3", out}), "IFD"));
  }
}

TEST_F(ForeignMetadata, LosesOnlyThePlaceByStripGps) {
  for (const char* name : {"in.jpg", "in.png", "in.webp", "in.tif", "in.avif", "in.jxl"}) {
    if (codec_of_name(name) == nullptr) continue;
    const std::string source = tagged(
        "source.jpg",
        {"-GPSLatitude=48.1372", "-GPSLatitudeRef=N", "-GPSLongitude=11.5756", "-GPSLongitudeRef=E",
         "-XMP-exif:GPSLatitude=48.1372", "-XMP-exif:GPSLongitude=11.5756", "-XMP-dc:Title=A title",
         "-Make=Maker", "-Model=Model", "-ExposureTime=0.01", "-Orientation=3"});
    const std::string in = folder_ / name;
    filter_quietly({source, in, "--on-exists", "overwrite"});
    ASSERT_NE(exiftool({"-s3", "-GPS:all", "-XMP-exif:all", in}), "") << name;
    const std::string out = folder_ / (std::string("out-") + name);
    filter_quietly({in, out, "--strip", "gps", "--blur", "auto"});
    EXPECT_EQ(exiftool({"-s3", "-GPS:all", "-XMP-exif:GPS*", out}), "") << name;
    const std::string bytes = read_file(out);
    EXPECT_FALSE(contains(bytes, "GPS")) << name;
    const std::vector<std::string> rest{
        "-n", "-s3", "-IFD0:Make", "-IFD0:Model", "-ExifIFD:ExposureTime", "-XMP-dc:Title"};
    auto before = rest;
    before.push_back(in);
    auto after = rest;
    after.push_back(out);
    EXPECT_EQ(exiftool(after), exiftool(before)) << name;
    EXPECT_NE(exiftool(after), "") << name;
  }
}

TEST_F(ForeignMetadata, ExifIsReadBehindARepeatedPrefix) {
  const std::string in = tagged("in.jpg", {"-Make=Maker", "-Orientation=6"});
  std::string bytes = read_file(in);
  const std::string prefix("Exif\0\0", 6);
  const std::size_t at = bytes.find(prefix);
  ASSERT_NE(at, std::string::npos);
  bytes.insert(at, prefix);
  const auto length = static_cast<unsigned char>(bytes[at - 1]) + prefix.size();
  ASSERT_LT(length, 256U);
  bytes[at - 1] = static_cast<char>(length);
  const std::string twice = folder_ / "twice.jpg";
  write_file(twice, bytes);
  EXPECT_FALSE(contains(exiftool({"-n", "-s3", "-Orientation", twice}), "6"));
  for (const char* name : {"out.jpg", "out.png"}) {
    const std::string out = folder_ / name;
    filter_quietly({twice, out, "--gray"});
    EXPECT_EQ(exiftool({"-n", "-s3", "-IFD0:Make", "-IFD0:Orientation", out}), "Maker\n6\n");
  }
}

TEST_F(ForeignMetadata, ColoursNamedByCodePointsBecomeAProfile) {
  const std::string in = case_path("png-cicp-display-p3.png");
  for (const char* name : {"out.jpg", "out.webp", "out.tif"}) {
    if (codec_of_name(name) == nullptr) continue;
    const std::string out = folder_ / name;
    filter_quietly({in, out});
    EXPECT_EQ(exiftool({"-s3", "-ICC_Profile:ProfileDescription", out}), "Display P3\n") << name;
    EXPECT_EQ(filter({out, folder_ / "again.png", "--on-exists", "overwrite"}).exit_code, 0);
  }
  const std::string png = folder_ / "out.png";
  filter_quietly({in, png});
  EXPECT_TRUE(header_of(png).metadata.coding_points.has_value());
  EXPECT_FALSE(header_of(png).metadata.icc_profile.has_value());
  const std::string srgb = folder_ / "srgb.png";
  filter_quietly({in, srgb, "--to-srgb"});
  EXPECT_FALSE(header_of(srgb).metadata.coding_points.has_value());
  EXPECT_EQ(header_of(srgb).metadata.icc_profile->data, srgb_profile().data);
  EXPECT_FALSE(same_pixels(read_picture(srgb), read_picture(in)));
}

TEST_F(ForeignMetadata, AProfileOfOtherColoursCountsAsNone) {
  const std::string in = case_path("png-rgb-with-grey-profile.png");
  const std::string out = folder_ / "out.png";
  const ProcessResult result = ended(0, filter({in, out, "--to-srgb", "--timing", "off"}));
  expect_one_line(result.err, {"warning: " + in +
                               ": --to-srgb: the ICC profile is for grey, but "
                               "the picture is RGB; its colours count as sRGB"});
  EXPECT_TRUE(same_pixels(read_picture(out), read_picture(in)));
}

TEST_F(ForeignMetadata, InkOfJpegsIsInvertedWithoutAdobesMarker) {
  const Image image = read_picture(case_path("jpeg-cmyk-without-adobe-marker.jpg"));
  EXPECT_EQ(sample_at(image, 10, 10, 0), 38U);
  EXPECT_EQ(sample_at(image, 10, 10, 1), 52U);
  EXPECT_EQ(sample_at(image, 10, 10, 2), 60U);
}

// It would be that of the RGB pixels otherwise.
TEST_F(ForeignMetadata, AProfileOfRgbIsNotKeptFromACmykJpeg) {
  const std::string in = folder_ / "in.jpg";
  write_file(in, read_file(case_path("jpeg-cmyk-without-adobe-marker.jpg")));
  exiftool({"-q", "-overwrite_original",
            "-ICC_Profile<=" GPUFILTER_SOURCE "/samples/profiles/display-p3.icc", in});
  ASSERT_NE(exiftool({"-s3", "-ICC_Profile:ProfileDescription", in}), "");
  for (const char* stage : {"--blur", "--to-srgb"}) {
    const std::string out = folder_ / "out.png";
    std::vector<std::string> words{in, out, "--timing", "off", "--on-exists", "overwrite", stage};
    if (words.back() == "--blur") words.emplace_back("auto");
    const ProcessResult result = ended(0, filter(words));
    expect_one_line(result.err, {"warning: " + in +
                                 ": the ICC profile is for RGB, but the picture "
                                 "is CMYK; it is left out"});
    const auto& profile = header_of(out).metadata.icc_profile;
    EXPECT_TRUE(!profile || profile->data == srgb_profile().data);
  }
}

}  // namespace
}  // namespace gpufilter::test

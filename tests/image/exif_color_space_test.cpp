// A new profile's colour space in EXIF and XMP.
#include <string>

#include <gtest/gtest.h>

#include "image/exif.hpp"

namespace gpufilter {
namespace {

// A directory that points to the EXIF directory at offset 26, whose only entry is the colour space.
Bytes exif_with(std::uint8_t type, std::uint8_t low, std::uint8_t high) {
  return {'I',  'I', 42, 0,  8, 0, 0,   0,    1, 0, 0x69, 0x87, 4, 0,    1,
          0,    0,   0,  26, 0, 0, 0,   0,    0, 0, 0,    1,    0, 0x01, 0xA0,
          type, 0,   1,  0,  0, 0, low, high, 0, 0, 0,    0,    0, 0};
}

TEST(ExifColorSpace, IsSet) {
  Metadata metadata;
  metadata.exif = exif_with(3, 1, 0);
  set_exif_color_space(metadata, false);
  EXPECT_EQ(metadata.exif, exif_with(3, 0xFF, 0xFF));
  set_exif_color_space(metadata, true);
  EXPECT_EQ(metadata.exif, exif_with(3, 1, 0));
}

TEST(ExifColorSpace, KeepsItsTypeIfThatIsLargeEnough) {
  Metadata metadata;
  metadata.exif = exif_with(4, 1, 0);
  set_exif_color_space(metadata, false);
  EXPECT_EQ(metadata.exif, exif_with(4, 0xFF, 0xFF));
  metadata.exif = exif_with(1, 1, 0);
  set_exif_color_space(metadata, false);
  EXPECT_EQ(metadata.exif, exif_with(4, 0xFF, 0xFF));
}

TEST(ExifColorSpace, IsNotAdded) {
  Metadata metadata;
  metadata.exif = exif_with(7, 7, 0);  // no integer
  set_exif_color_space(metadata, true);
  EXPECT_EQ(metadata.exif, exif_with(7, 7, 0));
  metadata.exif.resize(30);
  const Bytes cut = metadata.exif;
  set_exif_color_space(metadata, true);
  EXPECT_EQ(metadata.exif, cut);
  metadata.exif.clear();
  set_exif_color_space(metadata, true);
  EXPECT_TRUE(metadata.exif.empty());
}

TEST(ExifColorSpace, IsSetInXmp) {
  const std::string xmp = R"(<a exif:ColorSpace="1"/><exif:ColorSpace> 65535</exif:ColorSpace>)";
  Metadata metadata;
  metadata.xmp.assign(xmp.begin(), xmp.end());
  set_exif_color_space(metadata, false);
  EXPECT_EQ(std::string(metadata.xmp.begin(), metadata.xmp.end()),
            R"(<a exif:ColorSpace="65535"/><exif:ColorSpace> 65535</exif:ColorSpace>)");
  set_exif_color_space(metadata, true);
  EXPECT_EQ(std::string(metadata.xmp.begin(), metadata.xmp.end()),
            R"(<a exif:ColorSpace="1"/><exif:ColorSpace> 1</exif:ColorSpace>)");
}

TEST(ExifColorSpace, FollowsTheProfile) {
  Metadata metadata;
  metadata.exif = exif_with(3, 1, 0);
  set_profile(metadata, {.name = "Display P3", .data = {}});
  EXPECT_EQ(metadata.exif, exif_with(3, 0xFF, 0xFF));
  set_profile(metadata, {.name = "sRGB IEC61966-2.1", .data = {}});
  EXPECT_EQ(metadata.exif, exif_with(3, 1, 0));
}

}  // namespace
}  // namespace gpufilter

// What --strip gps removes: all that says the place, and nothing else.
#include <string>

#include <gtest/gtest.h>

#include "image/exif.hpp"
#include "image/metadata.hpp"
#include "image/tiff.hpp"

namespace gpufilter {
namespace {

Bytes characters(const std::string& text) {
  return {text.begin(), text.end()};
}

// Three entries (orientation, GPS, a text behind the GPS directory), then the GPS directory with a
// text of its own.
Bytes exif_with_place() {
  Bytes exif{'I', 'I', 42, 0, 8, 0, 0, 0, 3, 0};
  const auto entry = [&exif](std::uint16_t tag, std::uint8_t type, std::uint8_t count,
                             std::uint8_t value) {
    exif.insert(exif.end(), {static_cast<std::uint8_t>(tag), static_cast<std::uint8_t>(tag >> 8U),
                             type, 0, count, 0, 0, 0, value, 0, 0, 0});
  };
  entry(0x0112, 3, 1, 6);
  entry(0x8825, 4, 1, 50);
  entry(0x9286, 2, 8, 76);
  exif.insert(exif.end(), 4, 0);
  EXPECT_EQ(exif.size(), 50U);
  exif.insert(exif.end(), {1, 0});
  entry(0x001d, 2, 8, 68);
  exif.insert(exif.end(), 4, 0);
  EXPECT_EQ(exif.size(), 68U);
  const std::string texts = "secret! a text!";
  exif.insert(exif.end(), texts.begin(), texts.end());
  exif.push_back(0);
  return exif;
}

TEST(Location, IsRemovedFromExif) {
  Bytes exif = exif_with_place();
  const std::size_t size = exif.size();
  remove_exif_location(exif);
  ASSERT_EQ(exif.size(), size);
  const Tiff tiff(exif);
  EXPECT_EQ(tiff.entry_count(8), 2U);
  EXPECT_EQ(tiff.value(*tiff.find(8, 0x0112)), 6U);
  EXPECT_FALSE(tiff.find(8, 0x8825).has_value());
  EXPECT_EQ(tiff.find(8, 0x9286)->value, (ByteRange{76, 84}));
  EXPECT_EQ(tiff.next_directory(8), 0U);
  const std::string rest(exif.begin() + 34, exif.end());
  EXPECT_EQ(rest.find_first_not_of('\0'), 76U - 34);
  EXPECT_EQ(rest.substr(76 - 34, 7), "a text!");
  const Bytes once = exif;
  remove_exif_location(exif);
  EXPECT_EQ(exif, once);
}

TEST(Location, IsRemovedFromDamagedExifWithoutReadingOutside) {
  const Bytes whole = exif_with_place();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    remove_exif_location(cut);
    EXPECT_EQ(cut.size(), size);
  }
}

TEST(Location, IsRemovedFromXmp) {
  const auto without = [](const std::string& xmp) {
    Metadata metadata;
    metadata.xmp = characters(xmp);
    remove_location(metadata);
    return std::string(metadata.xmp.begin(), metadata.xmp.end());
  };
  EXPECT_EQ(without(R"(<a exif:GPSLatitude="48,8N" dc:x="1" exif:GPSLongitude = '11E'/>)"),
            R"(<a dc:x="1"/>)");
  EXPECT_EQ(without("<exif:GPSLatitude>48,8N</exif:GPSLatitude><dc:x/><exif:GPSAltitude/>"),
            "<dc:x/>");
  EXPECT_EQ(without(R"(<a drone-dji:GpsLatitude="+48.1"/>)"), "<a/>");
  for (const char* kept : {"<dc:title>all about:GPS and maps</dc:title>", "<exif:GPSLatitude>48",
                           "<a exif:GPSLatitude=48>", ":GPS", "", "<a exif:GPSLatitude"})
    EXPECT_EQ(without(kept), kept);
}

TEST(Location, IsRemovedFromText) {
  Metadata metadata;
  metadata.text = {{"exif:GPSLatitude", "48", "", "", false}, {"Title", "A GPS", "", "", false}};
  remove_location(metadata);
  ASSERT_EQ(metadata.text.size(), 1U);
  EXPECT_EQ(metadata.text[0].keyword, "Title");
}

TEST(Location, StaysUnlessItsKindIsLeftOut) {
  Metadata metadata;
  metadata.exif = exif_with_place();
  EXPECT_EQ(kept_part(metadata, MetadataKinds::all()).exif, metadata.exif);
  EXPECT_NE(kept_part(metadata, {MetadataKind::exif}).exif, metadata.exif);
}

TEST(ExifPrefix, IsRemovedHoweverOftenItStandsThere) {
  const std::string prefix("Exif\0\0", 6);
  for (const std::string& before : {std::string(), prefix, prefix + prefix}) {
    Bytes exif = characters(before + "II*");
    remove_exif_prefix(exif);
    EXPECT_EQ(exif, characters("II*"));
  }
}

}  // namespace
}  // namespace gpufilter

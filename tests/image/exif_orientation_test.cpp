#include "image/exif_orientation.hpp"

#include <array>
#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "support/pictures.hpp"

namespace gpufilter {
namespace {

using test::bytes_of;

// A directory at offset 10 with a dummy date, then the orientation.
const Bytes little{'I', 'I', 42, 0, 10,   0, 0, 0, 0xEE, 0xEE, 2, 0, 0x32, 1, 2, 0, 0, 0, 0, 0,
                   0,   0,   0,  0, 0x12, 1, 3, 0, 1,    0,    0, 0, 6,    0, 0, 0, 0, 0, 0, 0};
const Bytes big{'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0,
                3,   0,   0, 0,  1, 0, 8, 0, 0, 0, 0, 0,    0};

TEST(ExifOrientation, IsReadInEitherByteOrder) {
  EXPECT_EQ(exif_orientation(little), 6);
  EXPECT_EQ(exif_orientation(big), 8);
}

TEST(ExifOrientation, IsOneWhereThereIsNone) {
  EXPECT_EQ(exif_orientation({}), 1);
  EXPECT_EQ(exif_orientation({'I', 'I', 42, 0, 8, 0, 0, 0, 0, 0}), 1);
}

TEST(ExifOrientation, IsOneWhereItIsNotValid) {
  const auto changed = [](std::size_t index, std::uint8_t value) {
    Bytes exif = little;
    exif.at(index) = value;
    return exif_orientation(exif);
  };
  EXPECT_EQ(changed(0, 'M'), 1) << "the byte order";
  EXPECT_EQ(changed(2, 43), 1) << "the signature";
  EXPECT_EQ(changed(7, 0xFF), 1) << "the directory's offset";
  EXPECT_EQ(changed(26, 11), 1) << "the type";
  EXPECT_EQ(changed(28, 0), 1) << "the count";
  EXPECT_EQ(changed(32, 0), 1);
  EXPECT_EQ(changed(32, 9), 1);
  EXPECT_EQ(changed(33, 1), 1);
}

TEST(ExifOrientation, MayHaveAnyTypeOfIntegersAndAnyCount) {
  for (const int type : {1, 3, 4, 6, 8, 9}) {
    for (const int count : {1, 2, 4}) {
      Metadata metadata;
      metadata.exif = little;
      metadata.exif.at(26) = static_cast<std::uint8_t>(type);
      metadata.exif.at(28) = static_cast<std::uint8_t>(count);
      const bool is_inline = count == 1 || type == 1 || type == 6 || (count == 2 && type % 5 == 3);
      EXPECT_EQ(exif_orientation(metadata.exif), is_inline ? 6 : 1) << type << ' ' << count;
      set_orientation(metadata, 3);
      EXPECT_EQ(exif_orientation(metadata.exif), 3) << type << ' ' << count;
    }
  }
}

TEST(ExifOrientation, OfXmpCountsWhereExifHasNone) {
  const auto xmp = [](const std::string& text) { return Bytes(text.begin(), text.end()); };
  Metadata metadata;
  EXPECT_EQ(stored_orientation(metadata), std::nullopt);
  metadata.xmp = xmp("<rdf:Description tiff:Orientation=\"6\"/>");
  EXPECT_EQ(stored_orientation(metadata), 6);
  metadata.exif = big;
  EXPECT_EQ(stored_orientation(metadata), 8);
  metadata.exif[19] = 0;  // not valid
  EXPECT_EQ(stored_orientation(metadata), 6);
  set_orientation(metadata, 1);
  EXPECT_EQ(stored_orientation(metadata), 1);
  metadata.xmp = xmp("<tiff:Orientation>9</tiff:Orientation>");
  EXPECT_EQ(stored_orientation(metadata), std::nullopt);
}

// XMP goes, and what it says of the orientation moves to EXIF.
TEST(ExifOrientation, OfXmpStaysWithoutXmp) {
  const std::string text = "<rdf:Description tiff:Orientation=\"6\"/>";
  Metadata metadata;
  metadata.xmp.assign(text.begin(), text.end());
  EXPECT_EQ(stored_orientation(kept_part(metadata, {MetadataKind::icc})), 6);
  EXPECT_EQ(stored_orientation(kept_part(metadata, {MetadataKind::exif})), 6);
  EXPECT_TRUE(kept_part(metadata, {MetadataKind::xmp}).exif.empty());
}

TEST(ExifOrientation, ReadsNothingPastTheEnd) {
  for (std::size_t size = 0; size < little.size(); ++size) {
    const Bytes cut(little.begin(), little.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(exif_orientation(cut), size < 36 ? 1 : 6) << size;
  }
  Bytes many = little;
  many[10] = many[11] = 0xFF;
  many[24] = 0;  // and no orientation among 65535 entries
  EXPECT_EQ(exif_orientation(many), 1);
}

std::string text_of(const Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

TEST(ResetOrientation, ChangesTheOneNumberInExif) {
  Bytes expected = little;
  expected[32] = 1;
  Metadata metadata;
  metadata.exif = little;
  set_orientation(metadata, 1);
  EXPECT_EQ(metadata.exif, expected);

  expected = big;
  expected[19] = 1;
  metadata.exif = big;
  set_orientation(metadata, 1);
  EXPECT_EQ(metadata.exif, expected);
}

TEST(ResetOrientation, LeavesExifWithoutOneAsItIs) {
  for (Bytes exif : {Bytes{}, Bytes{'I', 'I', 42}, Bytes(little.begin(), little.begin() + 30)}) {
    Metadata metadata;
    metadata.exif = exif;
    set_orientation(metadata, 1);
    EXPECT_EQ(metadata.exif, exif);
  }
  Metadata metadata;
  metadata.exif = little;
  metadata.exif[32] = 9;  // of no meaning
  set_orientation(metadata, 1);
  EXPECT_EQ(metadata.exif[32], 9);
}

// A date and the orientation in the order of their tags; all that was there before stays there.
TEST(SetOrientation, AddsOneToExifWithoutIt) {
  Bytes without{'I', 'I', 42, 0, 10, 0, 0, 0, 0xEE, 0xEE, 1, 0, 0x32, 1,
                2,   0,   0,  0, 0,  0, 0, 0, 0,    0,    7, 0, 0,    0};
  for (const bool later_tag : {false, true}) {
    without[12] = later_tag ? 0x32 : 0x0F;
    Metadata metadata;
    metadata.exif = without;
    set_orientation(metadata, 6);
    EXPECT_EQ(exif_orientation(metadata.exif), 6);
    ASSERT_EQ(metadata.exif.size(), without.size() + 2 + 2 * 12 + 4);
    Bytes kept(metadata.exif.begin(), metadata.exif.begin() + 28);
    kept[4] = 10;
    EXPECT_EQ(kept, without);
    const Bytes entry(without.begin() + 12, without.begin() + 24);
    const auto place = metadata.exif.begin() + 30 + (later_tag ? 12 : 0);
    EXPECT_EQ(Bytes(place, place + 12), entry);
    EXPECT_EQ(metadata.exif[metadata.exif.size() - 4], 7) << "the next directory";
  }
}

TEST(SetOrientation, MakesExifWhereThereIsNoneOrNoValidOne) {
  Bytes invalid = little;
  invalid[32] = 9;
  for (Bytes exif : {Bytes{}, Bytes{'I', 'I', 42}, Bytes(little.begin(), little.begin() + 30), big,
                     little, invalid}) {
    Metadata metadata;
    metadata.exif = exif;
    set_orientation(metadata, 5);
    EXPECT_EQ(exif_orientation(metadata.exif), 5);
  }
}

TEST(SetOrientation, ChangesXmpToo) {
  Metadata metadata;
  metadata.xmp = bytes_of("<a tiff:Orientation=\"1\"/>");
  set_orientation(metadata, 8);
  EXPECT_EQ(text_of(metadata.xmp), "<a tiff:Orientation=\"8\"/>");
}

TEST(ResetOrientation, ChangesEitherFormInXmp) {
  const auto reset = [](const std::string& xmp) {
    Metadata metadata;
    metadata.xmp = bytes_of(xmp);
    set_orientation(metadata, 1);
    return text_of(metadata.xmp);
  };
  EXPECT_EQ(reset("<a tiff:Orientation=\"6\" tiff:Make=\"8\"/>"),
            "<a tiff:Orientation=\"1\" tiff:Make=\"8\"/>");
  EXPECT_EQ(reset("<a tiff:Orientation = '3'/>"), "<a tiff:Orientation = '1'/>");
  EXPECT_EQ(reset("<tiff:Orientation>8</tiff:Orientation><b>7</b>"),
            "<tiff:Orientation>1</tiff:Orientation><b>7</b>");
  for (const std::string same : {"", "tiff:Orientation", "tiff:Orientation=\"\"",
                                 "<tiff:Orientation>x6</tiff:Orientation>", "tiff:Make=\"6\""}) {
    EXPECT_EQ(reset(same), same);
  }
}

}  // namespace
}  // namespace gpufilter

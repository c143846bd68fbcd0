#include "image/exif.hpp"

#include "image/metadata.hpp"
#include "image/placement.hpp"
#include "image/tiff.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {
namespace {

using Letters = std::vector<std::string>;

// A directory at offset 10 with a dummy date, then the orientation.
const Bytes little{'I', 'I', 42, 0, 10,   0, 0, 0, 0xEE, 0xEE, 2, 0, 0x32, 1, 2, 0, 0, 0, 0, 0,
                   0,   0,   0,  0, 0x12, 1, 3, 0, 1,    0,    0, 0, 6,    0, 0, 0, 0, 0, 0, 0};
const Bytes big{'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0,
                3,   0,   0, 0,  1, 0, 8, 0, 0, 0, 0, 0,    0};

TEST(ExifOrientation, IsReadInEitherByteOrderAndIsOneWhereThereIsNone) {
  EXPECT_EQ(exif_orientation(little), 6);
  EXPECT_EQ(exif_orientation(big), 8);
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
  for (const auto& [type, count] : each_of(std::array{1, 3, 4, 6, 8, 9}, std::array{1, 2, 4})) {
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
TEST(ExifOrientation, OfXmpStaysWithoutXmpAndReadsNothingPastTheEnd) {
  const std::string text = "<rdf:Description tiff:Orientation=\"6\"/>";
  Metadata metadata;
  metadata.xmp.assign(text.begin(), text.end());
  EXPECT_EQ(stored_orientation(kept_part(metadata, {MetadataKind::icc})), 6);
  EXPECT_EQ(stored_orientation(kept_part(metadata, {MetadataKind::exif})), 6);
  EXPECT_TRUE(kept_part(metadata, {MetadataKind::xmp}).exif.empty());
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

// A new profile's colour space in EXIF and XMP.

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

// A picture of letters, one string for each row.

Letters turned(const Letters& source, const Turn& turn) {
  const int width = static_cast<int>(source[0].size());
  const int height = static_cast<int>(source.size());
  const ImageSize size = turn.size_of({width, height});
  Letters result(static_cast<std::size_t>(size.height));
  for (const auto [x, y] : each_pixel(size)) {
    const int u = turn.swaps ? y : x;
    const int v = turn.swaps ? x : y;
    result[static_cast<std::size_t>(y)] +=
        source[static_cast<std::size_t>(turn.mirrors_y ? height - 1 - v : v)]
              [static_cast<std::size_t>(turn.mirrors_x ? width - 1 - u : u)];
  }
  return result;
}

const Letters picture{"abc", "def"};

TEST(Turn, NamesMeanWhatTheySay) {
  EXPECT_EQ(turned(picture, left_right), (Letters{"cba", "fed"}));
  EXPECT_EQ(turned(picture, upside_down), (Letters{"def", "abc"}));
  EXPECT_EQ(turned(picture, half_a_turn), (Letters{"fed", "cba"}));
  EXPECT_EQ(turned(picture, quarter_clockwise), (Letters{"da", "eb", "fc"}));
  EXPECT_EQ(turned(picture, quarter_counterclockwise), (Letters{"cf", "be", "ad"}));
}

// TIFF 6.0, section 8: what row 0 and column 0 of the file are in the picture.
TEST(Turn, ShowsEveryOrientationUpright) {
  const std::array<Letters, 8> files{picture,
                                     {"cba", "fed"},
                                     {"fed", "cba"},
                                     {"def", "abc"},
                                     {"ad", "be", "cf"},
                                     {"cf", "be", "ad"},
                                     {"fc", "eb", "da"},
                                     {"da", "eb", "fc"}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Letters& file = files.at(static_cast<std::size_t>(orientation - 1));
    EXPECT_EQ(turned(file, turn_for_orientation(orientation)), picture) << orientation;
  }
  EXPECT_TRUE(turn_for_orientation(1).changes_nothing());
  EXPECT_TRUE(turn_for_orientation(0).changes_nothing());
  EXPECT_TRUE(turn_for_orientation(9).changes_nothing());
}

TEST(Turn, TwoAreOneAndOnlyMirroringLeftToRightStaysInRows) {
  for (int first = 1; first <= 8; ++first) {
    for (int second = 1; second <= 8; ++second) {
      const Turn a = turn_for_orientation(first);
      const Turn b = turn_for_orientation(second);
      EXPECT_EQ(turned(picture, a.then(b)), turned(turned(picture, a), b))
          << first << ", " << second;
    }
  }
  for (int orientation = 1; orientation <= 8; ++orientation)
    EXPECT_EQ(turn_for_orientation(orientation).stays_in_rows(), orientation <= 2) << orientation;
}

// What --strip gps removes: all that says the place, and nothing else.

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

std::string cleaned(const std::string& xmp, XmpParts* parts = nullptr) {
  Bytes bytes(xmp.begin(), xmp.end());
  const XmpParts found = remove_announced_parts(bytes);
  if (parts != nullptr) *parts = found;
  return {bytes.begin(), bytes.end()};
}

TEST(XmpParts, GoWithTheirAttributesAndElementsAndAllElseStaysAsItIs) {
  XmpParts parts;
  EXPECT_EQ(cleaned("<rdf:Description rdf:about=\"\"\n  GCamera:MotionPhoto=\"1\"\n"
                    "  GCamera:MotionPhotoVersion='1'\n  hdrgm:Version=\"1.0\" dc:format=\"a\">\n"
                    "<Container:Directory><rdf:Seq><rdf:li><Container:Item Item:Mime=\"a>b\"/>"
                    "</rdf:li></rdf:Seq></Container:Directory>\n"
                    "<GCamera:MicroVideo>1</GCamera:MicroVideo>"
                    "<hdrgm:GainMapMax/><dc:title>x</dc:title></rdf:Description>",
                    &parts),
            "<rdf:Description rdf:about=\"\" dc:format=\"a\">\n\n<dc:title>x</dc:title>"
            "</rdf:Description>");
  EXPECT_TRUE(parts.gain_map);
  EXPECT_FALSE(parts.depth_map);
  for (const std::string xmp :
       {"", "<x/>", "hdrgm:", "<hdrgm:Open", "<hdrgm:Open>", " hdrgm:Version",
        " hdrgm:Version=", " hdrgm:Version=\"1", "<dc:title>no hdrgm: here</dc:title>",
        "<GCamera:BurstID>7</GCamera:BurstID>"}) {
    EXPECT_EQ(cleaned(xmp), xmp);
  }
}

TEST(XmpParts, NameDepth) {
  XmpParts parts;
  EXPECT_EQ(cleaned("<a><Container:Directory><Container:Item Item:Semantic=\"Depth\"/>"
                    "</Container:Directory></a>",
                    &parts),
            "<a></a>");
  EXPECT_TRUE(parts.depth_map);
}

}  // namespace
}  // namespace gpufilter::test

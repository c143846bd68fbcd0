#include "codec/jpeg/metadata.hpp"

#include "codec/formats.hpp"
#include "image/exif.hpp"
#include "support/coding.hpp"
#include "support/jpeg_parts.hpp"

namespace gpufilter::test {
namespace {

using namespace std::string_view_literals;
using namespace std::string_literals;
using Segments = std::vector<std::pair<int, std::string>>;
using Names = std::vector<std::string>;

Bytes exif_with_orientation(std::uint8_t value) {
  return {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, value, 0, 0, 0, 0, 0, 0, 0};
}

// Enough of a profile for the code under test: a header with a colour space.
Bytes profile_of(std::string_view color_space, std::size_t size) {
  Bytes profile(size);
  for (std::size_t i = 0; i < size; ++i)
    profile[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  std::copy(color_space.begin(), color_space.end(), profile.begin() + 16);
  return profile;
}

WrittenJpeg write_with(const Metadata& metadata, int channels = 3) {
  PictureHeader header;
  header.metadata = metadata;
  return write_one_pixel(header, channels);
}

Bytes written_with(const Metadata& metadata, int channels = 3) {
  return write_with(metadata, channels).jpeg;
}

Metadata through_jpeg(const Metadata& metadata, int channels = 3) {
  return metadata_in(written_with(metadata, channels));
}

Metadata metadata_with_marker(int code, std::string_view content) {
  const JpegRecipe recipe{
      .after_start = [&](jpeg_compress_struct& jpeg) { write_segment(jpeg, code, content); }};
  return metadata_in(encode_with_libjpeg(flat_raster(1, 1, {1, 2, 3}), recipe));
}

TEST(JpegMetadata, IsEmptyWhereTheFileSaysNothing) {
  const Metadata metadata = metadata_in(encode_with_libjpeg(flat_raster(1, 1, {1, 2, 3})));
  EXPECT_FALSE(metadata.icc_profile);
  EXPECT_TRUE(metadata.exif.empty());
  EXPECT_TRUE(metadata.xmp.empty());
  EXPECT_FALSE(metadata.density);
  EXPECT_TRUE(metadata.text.empty());
}

TEST(JpegMetadata, SurvivesARoundTrip) {
  Metadata metadata;
  metadata.icc_profile.emplace().data = profile_of("RGB ", 200'000);  // four segments
  metadata.exif = bytes_of("II*\0 as it stands"sv);
  metadata.xmp = bytes_of("<x:xmpmeta/>");
  metadata.density = Density{Density::Unit::per_metre, 11811, 2835};
  metadata.text = {{"Comment", "gr\u00fc\u00dfe \u2603", "", ""}, {"Comment", "two", "", ""}};
  const Metadata read = through_jpeg(metadata);
  ASSERT_TRUE(read.icc_profile);
  EXPECT_TRUE(read.icc_profile->data == metadata.icc_profile->data);
  EXPECT_EQ(read.exif, metadata.exif);
  EXPECT_EQ(read.xmp, metadata.xmp);
  ASSERT_TRUE(read.density);
  EXPECT_EQ(read.density->unit, Density::Unit::per_metre);
  EXPECT_EQ(read.density->x, 11811U);
  EXPECT_EQ(read.density->y, 2835U);
  EXPECT_EQ(read.text, metadata.text);
}

TEST(JpegMetadata, SegmentsAreAsTheirStandardsSay) {
  Metadata metadata;
  metadata.exif = bytes_of("II*");
  metadata.xmp = bytes_of("<x/>");
  const Bytes jpeg = written_with(metadata);
  const std::string text(jpeg.begin(), jpeg.end());
  EXPECT_TRUE(contains(text,
                       "\xFF\xE1\x00\x0B"
                       "Exif\0\0II*"sv));
  EXPECT_TRUE(contains(text,
                       "\xFF\xE1\x00\x23"
                       "http://ns.adobe.com/xap/1.0/\0<x/>"sv));
}

TEST(JpegMetadata, HoldsSegmentsUpToTheirLimit) {
  Metadata metadata;
  metadata.exif.assign(65533 - 6, 'e');
  metadata.xmp.assign(65533 - 29, 'x');
  metadata.text = {{"Comment", std::string(65533, 'c'), "", ""}};
  Metadata read = through_jpeg(metadata);
  EXPECT_EQ(read.exif.size(), metadata.exif.size());
  EXPECT_EQ(read.xmp.size(), metadata.xmp.size());
  EXPECT_EQ(read.text, metadata.text);

  metadata.exif.push_back('e');
  metadata.xmp.push_back('x');
  metadata.text[0].text += 'c';
  read = through_jpeg(metadata);
  EXPECT_TRUE(read.exif.empty());
  EXPECT_TRUE(read.xmp.empty());
  EXPECT_TRUE(read.text.empty());
  EXPECT_EQ(write_with(metadata).left_out,
            (std::vector<std::string>{"EXIF except its orientation (65528 bytes are too many)",
                                      "XMP (65505 bytes are too many)",
                                      "text \"Comment\" (65534 bytes are too many)"}));
}

TEST(JpegMetadata, KeepsTheOrientationOfExifThatIsTooLarge) {
  Metadata metadata;
  metadata.exif = exif_with_orientation(6);
  metadata.exif.resize(70'000);
  EXPECT_EQ(exif_orientation(through_jpeg(metadata).exif), 6);
  EXPECT_LT(through_jpeg(metadata).exif.size(), 40U);
}

TEST(JpegMetadata, TextBecomesXmpOrComments) {
  Metadata metadata;
  metadata.text = {{"Title", "Salt & <Pepper>", "", ""},
                   {"Author", "A", "", ""},
                   {"Author", "B", "", ""},
                   {"Title", "Salz", "de", "Titel"},
                   {"Title", "again", "", ""},
                   {"Comment", "plain", "", ""},
                   {"Warning", "hot", "", ""},
                   {"Creation Time", "Mon, 1 Jan 2024", "", ""},
                   {"Copyright", "no \x01 in XML", "", ""},
                   {"Software", "gpufilter", "", ""}};
  const Metadata read = through_jpeg(metadata);
  const std::string xmp(read.xmp.begin(), read.xmp.end());
  const auto has = [&xmp](const char* part) { return xmp.find(part) != std::string::npos; };
  EXPECT_TRUE(
      has("<dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">Salt &amp; &lt;Pepper&gt;"
          "</rdf:li><rdf:li xml:lang=\"de\">Salz</rdf:li></rdf:Alt></dc:title>"))
      << xmp;
  EXPECT_TRUE(has("<dc:creator><rdf:Seq><rdf:li>A</rdf:li><rdf:li>B</rdf:li></rdf:Seq>")) << xmp;
  EXPECT_TRUE(has("<xmp:CreatorTool>gpufilter</xmp:CreatorTool>")) << xmp;
  std::vector<std::string> comments;
  for (const TextEntry& entry : read.text)
    comments.push_back(entry.text);
  EXPECT_EQ(comments, (std::vector<std::string>{"Title: again", "plain", "Warning: hot",
                                                "Creation Time: Mon, 1 Jan 2024",
                                                "Copyright: no \x01 in XML"}));
}

// A packet of the picture's own stays as it is.
TEST(JpegMetadata, TextBecomesCommentsBesideXmp) {
  Metadata metadata;
  metadata.xmp = bytes_of("<x/>");
  metadata.text = {{"Title", "T", "", ""}};
  const Metadata read = through_jpeg(metadata);
  EXPECT_EQ(read.xmp, metadata.xmp);
  EXPECT_EQ(read.text, (std::vector<TextEntry>{{"Comment", "Title: T", "", ""}}));
}

TEST(JpegMetadata, NamesColorsThatItCannotHold) {
  Metadata metadata;
  metadata.gamma = 100'000;
  metadata.chromaticity = {31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000};
  metadata.coding_points = {9, 16, 0, 1};
  metadata.density = Density{Density::Unit::per_metre, 1, 70'000'000};
  EXPECT_EQ(write_with(metadata).left_out,
            (std::vector<std::string>{"density", "code points of its colours (cICP)", "gamma",
                                      "chromaticity"}));
  // A JPEG without a profile is sRGB anyway.
  metadata = {};
  metadata.gamma = 45'455;
  metadata.chromaticity = {31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000};
  metadata.coding_points = {1, 13, 0, 1};
  metadata.srgb_intent = 0;
  EXPECT_TRUE(write_with(metadata).left_out.empty());
}

TEST(JpegMetadata, WritesOnlyProfilesOfThePicturesColorsAndNamesTheProfileThatIsNotForTheResult) {
  const auto survives = [](std::string_view color_space, int channels, std::size_t size) {
    Metadata metadata;
    metadata.icc_profile.emplace().data = profile_of(color_space, size);
    return through_jpeg(metadata, channels).icc_profile.has_value();
  };
  EXPECT_TRUE(survives("RGB ", 3, 128));
  EXPECT_TRUE(survives("GRAY", 1, 128));
  EXPECT_FALSE(survives("GRAY", 3, 128));
  EXPECT_FALSE(survives("RGB ", 1, 128));
  EXPECT_FALSE(survives("CMYK", 3, 128));
  EXPECT_FALSE(survives("RGB ", 3, 127));
  const auto left_out = [](std::string_view color_space, int channels) {
    Metadata metadata;
    metadata.icc_profile.emplace().data = profile_of(color_space, 200);
    return write_with(metadata, channels).left_out;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(left_out("CMYK", 3), Names{"the CMYK ICC profile (the result is RGB)"});
  EXPECT_EQ(left_out("RGB ", 1), Names{"the RGB ICC profile (the result is grey)"});
  EXPECT_EQ(left_out("GRAY", 3), Names{"the grey ICC profile (the result is RGB)"});
  EXPECT_EQ(left_out("\1\2\3\4", 3), Names{"the ICC profile (it is damaged)"});
  EXPECT_EQ(left_out("RGB ", 3), Names{});
}

TEST(JpegMetadata, ReadsTheProfileOfCmyk) {
  const Bytes profile = profile_of("CMYK", 500);
  const JpegRecipe recipe{.raster_colors = JCS_CMYK,
                          .stored_colors = JCS_CMYK,
                          .after_start = [&](jpeg_compress_struct& jpeg) {
                            jpeg_write_icc_profile(&jpeg, profile.data(),
                                                   static_cast<unsigned>(profile.size()));
                          }};
  const Bytes jpeg = encode_with_libjpeg(flat_raster(1, 1, {1, 2, 3, 4}), recipe);
  const auto read = metadata_in(jpeg).icc_profile;
  ASSERT_TRUE(read);
  EXPECT_EQ(read->data, profile);
}

TEST(JpegMetadata, DropsADamagedProfileAloneAndReadsCommentsOfBothEncodings) {
  // The first of two parts, and no second.
  const Metadata metadata =
      metadata_with_marker(JPEG_APP0 + 2, "ICC_PROFILE\0\x01\x02 the first of two"sv);
  EXPECT_FALSE(metadata.icc_profile);
  const auto comment = [](std::string_view stored) {
    const auto metadata = metadata_with_marker(JPEG_COM, stored);
    return metadata.text.empty() ? "none" : metadata.text[0].text;
  };
  EXPECT_EQ(comment("plain"), "plain");
  EXPECT_EQ(comment("caf\xC3\xA9"), "caf\xC3\xA9");
  EXPECT_EQ(comment("caf\xE9"), "caf\xC3\xA9");
  EXPECT_EQ(comment("ended\0"sv), "ended");
  EXPECT_EQ(comment(""), "none");
}

TEST(JpegMetadata, TakesTheFirstExifOfSeveral) {
  const JpegRecipe recipe{.after_start = [](jpeg_compress_struct& jpeg) {
    write_segment(jpeg, JPEG_APP0 + 1, "something else");
    write_segment(jpeg, JPEG_APP0 + 1, "Exif\0\0first"sv);
    write_segment(jpeg, JPEG_APP0 + 1, "Exif\0\0second"sv);
  }};
  const auto jpeg = encode_with_libjpeg(flat_raster(1, 1, {1, 2, 3}), recipe);
  EXPECT_EQ(metadata_in(jpeg).exif, bytes_of("first"));
}

struct DensityCase {
  int unit;
  int x;
  int y;
  std::optional<Density> expected;
};

TEST(JpegMetadata, ReadsDensity) {
  const auto metre = Density::Unit::per_metre;
  const std::vector<DensityCase> cases{{1, 300, 72, Density{metre, 11811, 2835}},
                                       {1, 96, 96, Density{metre, 3780, 3780}},
                                       {2, 118, 40, Density{metre, 11800, 4000}},
                                       {0, 4, 3, Density{Density::Unit::aspect_ratio, 4, 3}},
                                       {0, 1, 1, std::nullopt},
                                       {1, 0, 72, std::nullopt},
                                       {3, 5, 6, std::nullopt}};
  for (const DensityCase& density : cases) {
    const JpegRecipe recipe{.before_start = [&](jpeg_compress_struct& jpeg) {
      jpeg.density_unit = static_cast<UINT8>(density.unit);
      jpeg.X_density = static_cast<UINT16>(density.x);
      jpeg.Y_density = static_cast<UINT16>(density.y);
    }};
    const auto jpeg = encode_with_libjpeg(flat_raster(1, 1, {1, 2, 3}), recipe);
    const auto read = metadata_in(jpeg).density;
    SCOPED_TRACE(testing::Message() << density.unit << " " << density.x << " " << density.y);
    ASSERT_EQ(read.has_value(), density.expected.has_value());
    if (!read) continue;
    EXPECT_EQ(read->unit, density.expected->unit);
    EXPECT_EQ(read->x, density.expected->x);
    EXPECT_EQ(read->y, density.expected->y);
  }
}

TEST(JpegMetadata, KeepsEveryDensity) {
  for (std::uint32_t value = 1; value < 65536; value += value < 700 ? 1 : 977) {
    const std::uint32_t from_dpi = (value * 10000 + 127) / 254;
    for (const std::uint32_t per_metre : {from_dpi, value * 100}) {
      Metadata metadata;
      metadata.density = Density{Density::Unit::per_metre, per_metre, per_metre};
      const auto read = through_jpeg(metadata).density;
      ASSERT_TRUE(read) << per_metre;
      ASSERT_EQ(read->x, per_metre);
      ASSERT_EQ(read->y, per_metre);
    }
  }
  Metadata metadata;
  metadata.density = Density{Density::Unit::aspect_ratio, 4, 3};
  EXPECT_EQ(through_jpeg(metadata).density->x, 4U);
  metadata.density = Density{Density::Unit::per_metre, 4'000'000'000, 1};
  EXPECT_FALSE(through_jpeg(metadata).density);
}

// Segments of metadata from JPEG to JPEG: all of them, as they are, in their order.

// The codes of the segments of metadata, in order, and their contents.
Segments segments_of(const Bytes& jpeg) {
  Segments segments;
  for (std::size_t at = 2; jpeg[at + 1] != 0xDA;) {
    const std::size_t length = jpeg[at + 2] * 256U + jpeg[at + 3];
    const int code = jpeg[at + 1];
    if ((code > 0xE0 && code < 0xF0) || code == 0xFE) {
      segments.emplace_back(code, std::string(jpeg.begin() + static_cast<long>(at) + 4,
                                              jpeg.begin() + static_cast<long>(at + 2 + length)));
    }
    at += 2 + length;
  }
  return segments;
}

std::string part_of_profile(int part, const std::string& bytes) {
  return std::string("ICC_PROFILE\0", 12) + static_cast<char>(part) + '\2' + bytes;
}

TEST(JpegMetadataLayout, KeepsEverySegmentOfAJpegInItsOrder) {
  Bytes profile(200, 7);
  std::copy_n("RGB ", 4, profile.begin() + 16);
  const std::string head(profile.begin(), profile.begin() + 150);
  const std::string tail(profile.begin() + 150, profile.end());
  const std::string extended = "http://ns.adobe.com/xmp/extension/\0 a part"s;
  const Segments stored{{0xFE, "caf\xE9 in Latin-1"},
                        {0xED,
                         "Photoshop 3.0\0"
                         "8BIM\4\4\0\0\0\0\0\4\x1c\2\0\0"s},
                        {0xEB, "JP\0 some JUMBF"s},
                        {0xE1, std::string(xmp_prefix) + "<x/>"},
                        {0xE1, extended + "1"},
                        {0xE1, extended + "2"},
                        {0xE2, part_of_profile(1, head)},
                        {0xE2, part_of_profile(2, tail)},
                        {0xE1, std::string(exif_prefix) + "II*"},
                        {0xED, "Adobe_CM\0\2"s},
                        {0xE1, std::string(exif_prefix) + "a second one"},
                        {0xEF, "last\0"s},
                        {0xFE, "bytes \0\xFF"s}};
  const JpegRecipe recipe{.after_start = [&](jpeg_compress_struct& jpeg) {
    for (const auto& [code, content] : stored)
      write_segment(jpeg, code, content);
  }};
  const auto reader = open_jpeg(
      memory_source(encode_with_libjpeg(flat_raster(1, 1, {1, 2, 3}), recipe), "a.jpg"), {});
  const WrittenJpeg written = write_one_pixel(reader->header(), 3);
  EXPECT_TRUE(written.left_out.empty());
  Segments expected = stored;
  // The profile is written in one piece.
  expected[6].second = "ICC_PROFILE\0\1\1"s + std::string(profile.begin(), profile.end());
  expected.erase(expected.begin() + 7);
  EXPECT_EQ(segments_of(written.jpeg), expected);
  EXPECT_EQ(reader->header().stored->private_metadata(),
            (std::vector<std::string>{"APP11 \"JP\"", "extended XMP", "extended XMP",
                                      "APP13 \"Adobe_CM\"", "APP1 \"Exif\"", "APP15 \"last\""}));

  PictureHeader header = reader->header();
  header.metadata.exif = {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3,
                          0,   1,   0,  0, 0, 8, 0, 0, 0, 0, 0,    0, 0};
  const Segments kept =
      segments_of(write_one_pixel(header, 3, WriteOptions().set(strip_option(), "on")).jpeg);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0], expected[6]);
  EXPECT_EQ(kept[1].second.substr(0, 6), exif_prefix);

  // Additional EXIF and XMP segments may contain the location.
  for (const auto& [marker, segment] :
       segments_of(write_one_pixel(header, 3, WriteOptions().set(strip_option(), "gps")).jpeg)) {
    EXPECT_FALSE(segment.starts_with("http://ns.adobe.com/xmp/extension/"));
    EXPECT_NE(segment, "Exif");
  }
}

// The index says where other pictures are in the file, which are not kept.
TEST(JpegMetadataLayout, NamesPicturesThatItDoesNotKeep) {
  const JpegRecipe recipe{.after_start = [&](jpeg_compress_struct& jpeg) {
    write_segment(jpeg, 0xE2, "MPF\0II*\0"sv);
  }};
  const auto reader = open_jpeg(
      memory_source(encode_with_libjpeg(flat_raster(1, 1, {1, 2, 3}), recipe), "a.jpg"), {});
  const WrittenJpeg written = write_one_pixel(reader->header(), 3);
  EXPECT_TRUE(segments_of(written.jpeg).empty());
}

TEST(JpegMetadataLayout, LargeImageResourcesTakeSeveralSegments) {
  PictureHeader header;
  Bytes& resources = header.metadata.image_resources;
  resources = bytes_of("8BIM\4\4\0\0\0\3\0\0"sv);
  resources.resize(12 + 0x30000, 'i');
  const Bytes jpeg = write_one_pixel(header, 3).jpeg;
  EXPECT_EQ(segments_of(jpeg).size(), 4U);
  EXPECT_TRUE(open_jpeg(memory_source(jpeg, "a.jpg"), {})->header().metadata.image_resources ==
              resources);
}

// Data behind a JPEG's picture, and segments that announce them.

constexpr std::uint32_t preview = 0x010002;
constexpr std::uint32_t other = 0;

std::string number(std::uint32_t value, int size = 4) {
  std::string bytes;
  for (int i = 0; i < size; ++i)
    bytes += static_cast<char>(value >> 8 * i & 255U);
  return bytes;
}

// An index (MPF) of a first picture and of others with these attributes.
std::string index_of(const std::vector<std::uint32_t>& others) {
  const auto count = static_cast<std::uint32_t>(others.size() + 1);
  std::string entries = number(0x030000) + std::string(12, '\0');
  for (const std::uint32_t attributes : others)
    entries += number(attributes) + std::string(12, '\0');
  constexpr std::uint32_t entries_at = 8 + 2 + 12 + 4;
  return "MPF\0II*\0"s + number(8) + number(1, 2) + number(0xB002, 2) + number(7, 2) +
         number(16 * count) + number(entries_at) + number(0) + entries;
}

std::string gain_map_segment() {
  return "urn:iso:std:iso:ts:21496:-1\0\0\0"s;
}

// A JPEG with these APP segments, and bytes behind its picture.
Bytes jpeg_with(const std::vector<std::pair<int, std::string>>& segments,
                const std::string& behind) {
  const JpegRecipe recipe{.after_start = [&](jpeg_compress_struct& jpeg) {
    for (const auto& [code, content] : segments)
      write_segment(jpeg, code, content);
  }};
  Bytes jpeg = encode_with_libjpeg(textured_raster(40, 30, 3), recipe);
  jpeg.insert(jpeg.end(), behind.begin(), behind.end());
  return jpeg;
}

std::string another_jpeg() {
  const Bytes jpeg = encode_with_libjpeg(flat_raster(3, 3, {1, 2, 3}));
  return {jpeg.begin(), jpeg.end()};
}

std::string film() {
  return "\0\0\0\x18"
         "ftypmp42"s +
         std::string(500, 'f');
}

Names unread(const Bytes& jpeg) {
  const auto reader = open_picture(memory_source(jpeg, "in"));
  return reader->header().unread;
}

TEST(JpegParts, AreNamedByTheHeader) {
  const std::string second = another_jpeg();
  EXPECT_EQ(unread(jpeg_with({}, "")), Names{});
  EXPECT_EQ(unread(jpeg_with({{0xE2, index_of({other})}}, second)), Names{"1 more picture"});
  EXPECT_EQ(unread(jpeg_with({{0xE2, index_of({other, other})}}, second + second)),
            Names{"2 more pictures"});
  EXPECT_EQ(unread(jpeg_with({{0xE2, gain_map_segment()}, {0xE2, index_of({other})}}, second)),
            Names{"a gain map"});
  EXPECT_EQ(unread(jpeg_with({{0xE1, std::string(xmp_prefix) + "<a hdrgm:Version=\"1.0\"/>"},
                              {0xE2, index_of({other})}},
                             second + film())),
            (Names{"a gain map", "a film"}));
  EXPECT_EQ(unread(jpeg_with({}, film())), Names{"a film"});
  EXPECT_EQ(unread(jpeg_with({}, "MotionPhoto_Data" + film() + "SEFH....SEFT")), Names{"a film"});
  EXPECT_EQ(unread(jpeg_with({}, "8BPS or what else")), Names{"data behind the picture"});
}

// A preview shows the same picture, as a thumbnail does. An index may outlive its pictures.
TEST(JpegParts, PreviewsAndEmptyPromisesDoNotCountAndAPictureThatNothingAnnounces) {
  EXPECT_EQ(unread(jpeg_with({{0xE2, index_of({preview})}}, another_jpeg())), Names{});
  EXPECT_EQ(unread(jpeg_with({{0xE2, index_of({other})}, {0xE2, gain_map_segment()}}, "")),
            Names{});
  EXPECT_EQ(unread(jpeg_with({}, std::string(64, '\0') + "\n")), Names{});
  // A picture without an index is found once the first one has been read.
  const auto reader = open_picture(memory_source(jpeg_with({}, another_jpeg()), "in"));
  Image image(reader->header().size, reader->header().format);
  reader->read(image.rows());
  static_cast<void>(reader->finish());
  EXPECT_EQ(reader->header().unread, Names{"1 more picture"});
}

// Readers of the new file would look for missing data.
TEST(JpegParts, WhatAnnouncesThemIsNotWritten) {
  const std::string xmp = "<a GCamera:MotionPhoto=\"1\" hdrgm:Version=\"1.0\" b=\"c\"/>";
  const auto reader = open_picture(memory_source(jpeg_with({{0xE1, std::string(xmp_prefix) + xmp},
                                                            {0xE2, index_of({other})},
                                                            {0xE2, gain_map_segment()},
                                                            {0xEB, "stays"}},
                                                           another_jpeg() + film()),
                                                 "in"));
  const Bytes& kept = reader->header().metadata.xmp;
  EXPECT_EQ(std::string(kept.begin(), kept.end()), "<a b=\"c\"/>");
  const auto written = write_one_pixel(reader->header(), 3);
  const std::string bytes(written.jpeg.begin(), written.jpeg.end());
  EXPECT_FALSE(contains(bytes, "MPF"));
  EXPECT_FALSE(contains(bytes, "21496"));
  EXPECT_TRUE(contains(bytes, "stays"));
}

// Restart markers and further scans lie between the header and the end.
TEST(JpegParts, OfFilesWithSeveralScansAndRestarts) {
  for (const bool progressive : {false, true}) {
    JpegRecipe recipe{.progressive = progressive, .restart_rows = 1};
    Bytes jpeg = encode_with_libjpeg(textured_raster(300, 200, 3), recipe);
    const std::string behind = film();
    jpeg.insert(jpeg.end(), behind.begin(), behind.end());
    EXPECT_EQ(unread(jpeg), Names{"a film"});
  }
}

}  // namespace
}  // namespace gpufilter::test

// Metadata through PNG and back: it comes back unchanged, in equivalent chunks.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/pictures.hpp"
#include "support/png_in_memory.hpp"

namespace gpufilter::test {
namespace {

Image small_image(PixelFormat format = {3, 8}) {
  return random_image({5, 3}, format, 1);
}

IccProfile profile_for(const std::string& color_space) {
  Bytes data(600, 0x5a);
  std::copy(color_space.begin(), color_space.end(), data.begin() + 16);
  return {"a näme", data};
}

Bytes some_exif() {
  return bytes_of(std::string("II*\0\x08\0\0\0\0\0", 10));
}

ReadPng through_png(const PngSettings& settings, PixelFormat format = {3, 8}) {
  return read_png(encode_png(small_image(format), settings));
}

std::vector<std::string> chunk_types(const Bytes& file) {
  std::vector<std::string> types;
  for (const PngPart& part : split_png(file))
    types.push_back(part.type);
  return types;
}

TEST(PngMetadata, CarriesNumbersExactly) {
  PngSettings settings;
  settings.metadata.gamma = 45'454;
  settings.metadata.chromaticity = {31'270, 32'900, 64'000, 33'000, 30'000, 60'000, 15'000, 6'001};
  settings.metadata.srgb_intent = 2;
  settings.metadata.density = Density{Density::Unit::per_metre, 11'811, 0xffffffffU};
  const Metadata metadata = through_png(settings).header.metadata;
  EXPECT_EQ(metadata.gamma, settings.metadata.gamma);
  EXPECT_EQ(metadata.chromaticity, settings.metadata.chromaticity);
  EXPECT_EQ(metadata.srgb_intent, 2);
  ASSERT_TRUE(metadata.density);
  EXPECT_EQ(metadata.density->unit, Density::Unit::per_metre);
  EXPECT_EQ(metadata.density->x, 11'811U);
  EXPECT_EQ(metadata.density->y, 0xffffffffU);
}

TEST(PngMetadata, MakesNothingUp) {
  const Bytes file = encode_png(small_image(), {});
  EXPECT_EQ(chunk_types(file), (std::vector<std::string>{"IHDR", "IDAT", "IEND"}));
  const Metadata metadata = read_png(file).header.metadata;
  EXPECT_FALSE(metadata.gamma);
  EXPECT_FALSE(metadata.chromaticity);
  EXPECT_FALSE(metadata.srgb_intent);
  EXPECT_FALSE(metadata.density);
  EXPECT_FALSE(metadata.icc_profile);

  // libpng by itself would derive gamma and chromaticities from sRGB.
  PngSettings settings;
  settings.metadata.srgb_intent = 0;
  EXPECT_FALSE(through_png(settings).header.metadata.gamma);
}

TEST(PngMetadata, CarriesBlobsExactly) {
  PngSettings settings;
  settings.metadata.icc_profile = profile_for("RGB ");
  settings.metadata.exif = some_exif();
  settings.metadata.xmp = bytes_of("<x:xmpmeta>Füße 日本</x:xmpmeta>");
  const Metadata metadata = through_png(settings).header.metadata;
  ASSERT_TRUE(metadata.icc_profile);
  EXPECT_EQ(metadata.icc_profile->name, "a näme");
  EXPECT_EQ(metadata.icc_profile->data, settings.metadata.icc_profile->data);
  EXPECT_EQ(metadata.exif, settings.metadata.exif);
  EXPECT_EQ(metadata.xmp, settings.metadata.xmp);
  EXPECT_TRUE(metadata.text.empty());
}

TEST(PngMetadata, WritesAProfileOnlyForItsColors) {
  for (const int channels : {1, 2, 3, 4}) {
    for (const std::string color_space : {"GRAY", "RGB ", "CMYK"}) {
      PngSettings settings;
      settings.metadata.icc_profile = profile_for(color_space);
      const bool fits = color_space == (channels < 3 ? "GRAY" : "RGB ");
      EXPECT_EQ(through_png(settings, {channels, 8}).header.metadata.icc_profile.has_value(), fits)
          << color_space << " with " << channels << " channels";
    }
  }
}

TEST(PngMetadata, WritesEitherAProfileOrSrgb) {
  PngSettings settings;
  settings.metadata.icc_profile = profile_for("RGB ");
  settings.metadata.srgb_intent = 0;
  EXPECT_FALSE(through_png(settings).header.metadata.srgb_intent);
  settings.metadata.icc_profile = profile_for("GRAY");
  EXPECT_EQ(through_png(settings).header.metadata.srgb_intent, 0);
}

struct TextCase {
  TextEntry entry;
  const char* type;
};

const std::vector<TextCase>& text_cases() {
  static const std::vector<TextCase> cases{
      {{"Title", "A plain title", "", ""}, "tEXt"},
      {{"Author", "Jörg Müller ÿ\u0080", "", ""}, "tEXt"},
      {{"Überschrift", "", "", ""}, "tEXt"},
      {{"Long", std::string(1024, 'a'), "", ""}, "tEXt"},
      {{"Longer", std::string(1025, 'a') + "é", "", "", true}, "zTXt"},
      {{"Compressed", "short", "", "", true}, "zTXt"},
      {{"Comment", "日本語 Ā 😀", "", ""}, "iTXt"},
      {{"Comment", std::string(2000, 'x') + "Ā", "", "", true}, "iTXt"},
      {{"Comment", "Ā", "", "", true}, "iTXt"},
      {{"Title", "Hello", "en-GB", "Título"}, "iTXt"},
      {{"Title", "Hello", "", "タイトル"}, "iTXt"},
  };
  return cases;
}

TEST(PngMetadata, CarriesTextOfEveryKindBeforeAndAfterThePixels) {
  PngSettings before;
  PngSettings after;
  std::vector<std::string> types;
  for (const TextCase& text : text_cases()) {
    before.metadata.text.push_back(text.entry);
    types.emplace_back(text.type);
  }
  after.trailing = before.metadata;

  const Bytes first = encode_png(small_image(), before);
  const ReadPng read_first = read_png(first);
  EXPECT_EQ(read_first.header.metadata.text, before.metadata.text);
  EXPECT_TRUE(read_first.trailing.text.empty());
  auto expected = types;
  expected.insert(expected.begin(), "IHDR");
  expected.insert(expected.end(), {"IDAT", "IEND"});
  EXPECT_EQ(chunk_types(first), expected);

  const Bytes last = encode_png(small_image(), after);
  const ReadPng read_last = read_png(last);
  EXPECT_TRUE(read_last.header.metadata.text.empty());
  EXPECT_EQ(read_last.trailing.text, after.trailing.text);
  expected = types;
  expected.insert(expected.begin(), {"IHDR", "IDAT"});
  expected.emplace_back("IEND");
  EXPECT_EQ(chunk_types(last), expected);
}

// Uncompressed text is compressed if it is long.
TEST(PngMetadata, CompressesLongText) {
  PngSettings settings;
  settings.metadata.text = {{"Long", std::string(1024, 'a'), "", ""},
                            {"Longer", std::string(1025, 'a'), "", ""},
                            {"Longer", std::string(1025, 'a'), "en", ""}};
  const auto text = through_png(settings).header.metadata.text;
  ASSERT_EQ(text.size(), 3U);
  EXPECT_FALSE(text[0].compressed);
  EXPECT_TRUE(text[1].compressed);
  EXPECT_TRUE(text[2].compressed);
}

TEST(PngMetadata, KeepsXmpCompressedOrPlain) {
  const std::string packet = "<x>" + std::string(20'000, ' ') + "</x>";
  PngSettings settings;
  settings.metadata.xmp = bytes_of(packet);
  for (const bool compressed : {false, true}) {
    settings.metadata.xmp_compressed = compressed;
    const Bytes file = encode_png(small_image(), settings);
    EXPECT_EQ(file.size() > packet.size(), !compressed);
    const Metadata read = read_png(file).header.metadata;
    EXPECT_EQ(read.xmp, settings.metadata.xmp);
    EXPECT_EQ(read.xmp_compressed, compressed);
  }
}

TEST(PngMetadata, WritesLatin1InTextChunks) {
  PngSettings settings;
  settings.metadata.text = {{"Author", "Jörg", "", ""}};
  const auto parts = split_png(encode_png(small_image(), settings));
  ASSERT_EQ(parts.at(1).type, "tEXt");
  EXPECT_EQ(parts[1].data, bytes_of(std::string("Author\0J\xf6rg", 11)));
}

TEST(PngMetadata, LeavesOutKeywordsThatPngCannotHold) {
  PngSettings settings;
  for (const std::string& keyword :
       {std::string(), std::string(80, 'k'), std::string("日本"), std::string("two\nlines")}) {
    settings.metadata.text.push_back({keyword, "text", "", ""});
  }
  settings.metadata.text.push_back({std::string(79, 'k'), "text", "", ""});
  const Metadata metadata = through_png(settings).header.metadata;
  ASSERT_EQ(metadata.text.size(), 1U);
  EXPECT_EQ(metadata.text[0].keyword, std::string(79, 'k'));
}

TEST(PngMetadata, EndsTextAtNul) {
  PngSettings settings;
  settings.metadata.text = {{"Comment", std::string("seen\0unseen", 11), "", ""},
                            {"Comment", std::string("Ā\0Ā", 5), std::string("en\0x", 4), ""}};
  const Metadata metadata = through_png(settings).header.metadata;
  EXPECT_EQ(metadata.text,
            (std::vector<TextEntry>{{"Comment", "seen", "", ""}, {"Comment", "Ā", "en", ""}}));
}

TEST(PngMetadata, CarriesExifAndXmpBehindThePixelsOnce) {
  PngSettings settings;
  settings.trailing.exif = some_exif();
  settings.trailing.xmp = bytes_of("<x/>");
  const ReadPng picture = through_png(settings);
  EXPECT_TRUE(picture.header.metadata.exif.empty());
  EXPECT_EQ(picture.trailing.exif, settings.trailing.exif);
  EXPECT_EQ(picture.trailing.xmp, settings.trailing.xmp);

  settings.metadata = settings.trailing;
  const auto types = chunk_types(encode_png(small_image(), settings));
  EXPECT_EQ(types, (std::vector<std::string>{"IHDR", "eXIf", "iTXt", "IDAT", "IEND"}));
}

// `parts` inserted before the pixels of a small file.
Metadata metadata_of(const std::vector<PngPart>& parts) {
  std::vector<PngPart> all = split_png(encode_png(small_image(), {}));
  all.insert(all.begin() + 1, parts.begin(), parts.end());
  return read_png(join_png(all)).header.metadata;
}

Bytes xmp_chunk(const std::string& packet) {
  return bytes_of(std::string("XML:com.adobe.xmp\0\0\0\0\0", 22) + packet);
}

TEST(PngMetadata, TakesTheFirstOfWhatMayStandOnce) {
  const Metadata metadata = metadata_of({{"gAMA", {0, 0, 0, 7}},
                                         {"gAMA", {0, 0, 0, 8}},
                                         {"sRGB", {1}},
                                         {"sRGB", {2}},
                                         {"eXIf", bytes_of(std::string("MM\0*first", 9))},
                                         {"eXIf", some_exif()},
                                         {"iTXt", xmp_chunk("<first/>")},
                                         {"iTXt", xmp_chunk("<second/>")}});
  EXPECT_EQ(metadata.gamma, 7);
  EXPECT_EQ(metadata.srgb_intent, 1);
  EXPECT_EQ(metadata.exif, bytes_of(std::string("MM\0*first", 9)));
  EXPECT_EQ(metadata.xmp, bytes_of("<first/>"));
}

TEST(PngMetadata, ReadsWhatOtherProgramsGetWrong) {
  Bytes exif = bytes_of(std::string("Exif\0\0", 6));
  const Bytes tiff = some_exif();
  exif.insert(exif.end(), tiff.begin(), tiff.end());
  const Bytes latin1 = bytes_of(std::string("Comment\0\0\0\0\0J\xf6rg", 16));
  const Bytes nul = bytes_of(std::string("Comment\0seen\0unseen", 19));
  const Bytes nul_in_utf8 = bytes_of(std::string("Comment\0\0\0\0\0seen\0unseen", 23));
  const Metadata metadata =
      metadata_of({{"eXIf", exif}, {"iTXt", latin1}, {"tEXt", nul}, {"iTXt", nul_in_utf8}});
  EXPECT_EQ(metadata.exif, tiff);
  EXPECT_EQ(metadata.text, (std::vector<TextEntry>{{"Comment", "Jörg", "", ""},
                                                   {"Comment", "seen", "", ""},
                                                   {"Comment", "seen", "", ""}}));
}

TEST(PngMetadata, IgnoresColorsBehindThePixels) {
  std::vector<PngPart> parts = split_png(encode_png(small_image(), {}));
  parts.insert(parts.end() - 1,
               {{"gAMA", {0, 0, 0, 7}}, {"tEXt", bytes_of(std::string("a\0b", 3))}});
  const ReadPng picture = read_png(join_png(parts));
  EXPECT_FALSE(picture.trailing.gamma);
  EXPECT_EQ(picture.trailing.text, (std::vector<TextEntry>{{"a", "b", "", ""}}));
}

TEST(PngMetadata, ReadsPngSuite) {
  GPUFILTER_REQUIRE_SHARED("corpora/pngsuite");
  const auto metadata = [](const char* name) {
    return read_png(file_bytes(shared_path("corpora/pngsuite") / name)).header.metadata;
  };
  EXPECT_EQ(metadata("g25n2c08.png").gamma, 250'000);
  EXPECT_EQ(
      metadata("ccwn2c08.png").chromaticity,
      (std::array<std::int32_t, 8>{31'270, 32'900, 64'000, 33'000, 30'000, 60'000, 15'000, 6'000}));
  EXPECT_EQ(metadata("cdun2c08.png").density->unit, Density::Unit::per_metre);
  EXPECT_EQ(metadata("cdun2c08.png").density->x, 1000U);
  EXPECT_EQ(metadata("cdfn2c08.png").density->unit, Density::Unit::aspect_ratio);
  EXPECT_EQ(metadata("ct1n0g04.png").text.size(), 6U);
  EXPECT_EQ(metadata("ct1n0g04.png").text[0], (TextEntry{"Title", "PngSuite", "", ""}));
  // Of 978 bytes, the thumbnail and its directory are the last.
  EXPECT_EQ(metadata("exif2c08.png").exif.size(), 220U);
  const auto greek = metadata("ctgn0g04.png").text;
  ASSERT_FALSE(greek.empty());
  EXPECT_EQ(greek[0].language, "el");
  EXPECT_EQ(greek[0].translated_keyword, "Τίτλος");
}

}  // namespace
}  // namespace gpufilter::test

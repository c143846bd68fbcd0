// Metadata through PNG and back: it comes back unchanged, in equivalent chunks.
#include "codec/png/metadata.hpp"

#include "support/png_in_memory.hpp"

namespace gpufilter::test {
namespace {

using namespace std::string_literals;

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

TEST(PngMetadata, WritesAProfileOnlyForItsColorsAndWritesEitherAProfileOrSrgb) {
  for (const auto& [channels, color_space] :
       each_of(std::array{1, 2, 3, 4}, std::vector<std::string>{"GRAY", "RGB ", "CMYK"})) {
    PngSettings settings;
    settings.metadata.icc_profile = profile_for(color_space);
    const bool fits = color_space == (channels < 3 ? "GRAY" : "RGB ");
    EXPECT_EQ(through_png(settings, {channels, 8}).header.metadata.icc_profile.has_value(), fits)
        << color_space << " with " << channels << " channels";
  }
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
      {{"Title", "Hello", "", "タイトル"}, "iTXt"}};
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

TEST(PngMetadata, ReadsWhatOtherProgramsGetWrongAndIgnoresColorsBehindThePixels) {
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
  // The last of the 978 bytes are the thumbnail and its directory, which are not kept.
  EXPECT_EQ(metadata("exif2c08.png").exif.size(), 220U);
  const auto greek = metadata("ctgn0g04.png").text;
  ASSERT_FALSE(greek.empty());
  EXPECT_EQ(greek[0].language, "el");
  EXPECT_EQ(greek[0].translated_keyword, "Τίτλος");
}

// Metadata that PNG files keep as hexadecimal text.

Metadata taken_from(const std::string& type, const std::string& text) {
  Metadata metadata;
  metadata.text = {{"Raw profile type " + type, text, "", ""}};
  take_raw_profiles(metadata);
  return metadata;
}

// As ImageMagick writes them: a name, the length in a field of eight, 36 bytes a line.
TEST(PngRawProfile, IsWrittenAsImageMagickDoesAndFindsItsPlace) {
  Bytes resources(40, 0xab);
  resources[39] = 0x0c;
  const TextEntry entry = raw_profile_of(resources);
  EXPECT_EQ(entry.keyword, "Raw profile type iptc");
  std::string line;
  for (int i = 0; i < 36; ++i)
    line += "ab";
  EXPECT_EQ(entry.text, "\niptc\n      40\n" + line + "\nababab0c\n");
  EXPECT_TRUE(entry.compressed);
  const Metadata exif = taken_from("exif", "\nexif\n      10\n457869660000\n49492a00\n");
  EXPECT_EQ(exif.exif, bytes_of("II*\0"s));
  EXPECT_TRUE(exif.text.empty());
  EXPECT_EQ(taken_from("APP1", "\ngeneric profile\n 10\n45786966000049492A00").exif,
            bytes_of("II*\0"s));
  EXPECT_EQ(taken_from("xmp", "\nxmp\n4\n3c782f3e\n").xmp, bytes_of("<x/>"));
  EXPECT_EQ(taken_from("8bim", "\n8bim\n4\n3842494d\n").image_resources, bytes_of("8BIM"));
  EXPECT_EQ(taken_from("iptc", "\niptc\n3\n1c0205\n").image_resources,
            bytes_of("8BIM\4\4\0\0\0\0\0\3\x1c\2\5\0"s));
  EXPECT_EQ(taken_from("icc", "\nicc\n2\n0102\n").icc_profile->data, (Bytes{1, 2}));
}

TEST(PngRawProfile, StaysTextIfItIsDamagedOrUnknownAndDoesNotReplaceWhatIsThere) {
  for (const char* text :
       {"", "\n", "\nexif", "\nexif\n", "\nxmp\n4\n3c782f\n", "\nxmp\n0\n\n",
        "\nxmp\n4\n3c782f3e00\n", "\nxmp\n4\n3c782f3z\n", "\nxmp\n99999999999999999999\n3c\n",
        "\nxmp\n4000000000\n3c\n", "xmp\n4\n3c782f3e\n"}) {
    const Metadata metadata = taken_from("xmp", text);
    EXPECT_TRUE(metadata.xmp.empty()) << text;
    EXPECT_EQ(metadata.text.size(), 1U) << text;
  }
  EXPECT_EQ(taken_from("exif", "\nexif\n4\n49492a00\n").text.size(), 1U);
  EXPECT_EQ(taken_from("other", "\nxmp\n4\n3c782f3e\n").text.size(), 1U);
  Metadata metadata;
  metadata.xmp = bytes_of("<first/>");
  metadata.text = {{"Raw profile type xmp", "\nxmp\n4\n3c782f3e\n", "", ""}};
  take_raw_profiles(metadata);
  EXPECT_EQ(metadata.xmp, bytes_of("<first/>"));
  EXPECT_EQ(metadata.text.size(), 1U);
}

TEST(PngRawProfile, CarriesImageResourcesBeforeAndAfterThePixels) {
  PngSettings settings;
  settings.metadata.image_resources = Bytes(5000, 0x38);
  settings.trailing.image_resources = Bytes(10, 0x39);
  const Image image = random_image({5, 3}, {3, 8}, 1);
  const ReadPng both = read_png(encode_png(image, settings));
  EXPECT_EQ(both.header.metadata.image_resources, settings.metadata.image_resources);
  EXPECT_TRUE(both.trailing.image_resources.empty());
  settings.metadata.image_resources.clear();
  EXPECT_EQ(read_png(encode_png(image, settings)).trailing.image_resources,
            settings.trailing.image_resources);
}

TEST(PngMetadata, CarriesCodingPoints) {
  PngSettings settings;
  settings.metadata.coding_points = {9, 16, 0, 1};
  const ReadPng read = read_png(encode_png(random_image({5, 3}, {3, 8}, 1), settings));
  EXPECT_EQ(read.header.metadata.coding_points, settings.metadata.coding_points);
}

TEST(PngMetadata, StripsBeforeAndAfterThePixels) {
  PngSettings settings;
  settings.options.set(strip_option(), "on");
  settings.metadata.text = {{"Title", "T", "", ""}};
  settings.metadata.xmp = bytes_of("<x/>");
  settings.metadata.gamma = 50'000;
  settings.trailing.text = settings.metadata.text;
  settings.trailing.exif = {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3,
                            0,   1,   0,  0, 0, 8, 0, 0, 0, 0, 0,    0, 0};
  const ReadPng read = read_png(encode_png(random_image({5, 3}, {3, 8}, 1), settings));
  EXPECT_EQ(read.header.metadata.gamma, 50'000);
  EXPECT_TRUE(read.header.metadata.text.empty() && read.header.metadata.xmp.empty());
  EXPECT_TRUE(read.trailing.text.empty());
  EXPECT_EQ(read.trailing.exif.size(), 26U);
}

TEST(PngLateMetadata, IsFoundBehindThePixels) {
  PngSettings settings;
  settings.metadata.text = {{"Title", "early", "", ""}};
  settings.trailing.text = {{"Title", "late", "", ""}};
  settings.trailing.xmp = bytes_of("<x/>");
  const Bytes file = encode_png(random_image({500, 300}, {3, 16}, 1), settings);
  const auto late = [](Bytes bytes) {
    return read_late_png_metadata(*memory_source(std::move(bytes), "in.png"));
  };
  EXPECT_EQ(late(file).text, settings.trailing.text);
  EXPECT_EQ(late(file).xmp, settings.trailing.xmp);
  // Damage is for the reader of the picture to report.
  for (const std::size_t size : {std::size_t{0}, std::size_t{9}, file.size() / 2})
    EXPECT_TRUE(late(Bytes(file.begin(), file.begin() + static_cast<long>(size))).xmp.empty());
}

}  // namespace
}  // namespace gpufilter::test

// Metadata that PNG files keep as hexadecimal text.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "codec/png/metadata/metadata.hpp"
#include "support/pictures.hpp"
#include "support/png_in_memory.hpp"

namespace gpufilter::test {
namespace {

using namespace std::string_literals;

Metadata taken_from(const std::string& type, const std::string& text) {
  Metadata metadata;
  metadata.text = {{"Raw profile type " + type, text, "", ""}};
  take_raw_profiles(metadata);
  return metadata;
}

// As ImageMagick writes them: a name, the length in a field of eight, 36 bytes a line.
TEST(PngRawProfile, IsWrittenAsImageMagickDoes) {
  Bytes resources(40, 0xab);
  resources[39] = 0x0c;
  const TextEntry entry = raw_profile_of(resources);
  EXPECT_EQ(entry.keyword, "Raw profile type iptc");
  std::string line;
  for (int i = 0; i < 36; ++i)
    line += "ab";
  EXPECT_EQ(entry.text, "\niptc\n      40\n" + line + "\nababab0c\n");
  EXPECT_TRUE(entry.compressed);
}

TEST(PngRawProfile, FindsItsPlace) {
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

TEST(PngRawProfile, StaysTextIfItIsDamagedOrUnknown) {
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
}

TEST(PngRawProfile, DoesNotReplaceWhatIsThere) {
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

#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include "codec/jpeg/codec.hpp"
#include "support/jpeg.hpp"

namespace gpufilter {
namespace {

using namespace std::string_view_literals;
using test::encode_with_libjpeg;
using test::JpegRecipe;

Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

// Enough of a profile for the code under test: a header with a colour space.
Bytes profile_of(std::string_view color_space, std::size_t size) {
  Bytes profile(size);
  for (std::size_t i = 0; i < size; ++i)
    profile[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  std::copy(color_space.begin(), color_space.end(), profile.begin() + 16);
  return profile;
}

// A JPEG of one pixel with `metadata`.
Bytes written_with(const Metadata& metadata, int channels = 3) {
  Bytes jpeg;
  const auto sink = memory_sink(jpeg, "out.jpg");
  PictureHeader header;
  header.size = {1, 1};
  header.format = {channels, 8};
  header.metadata = metadata;
  const auto writer = create_jpeg(*sink, header, {});
  const std::array<std::uint8_t, 4> pixel{1, 2, 3, 4};
  writer->write({pixel.data(), pixel.size(), {0, 1}, 1, header.format});
  writer->finish({});
  return jpeg;
}

Metadata metadata_in(const Bytes& jpeg) {
  return open_jpeg(memory_source(jpeg, "some.jpg"), {})->header().metadata;
}

Metadata round_trip(const Metadata& metadata, int channels = 3) {
  return metadata_in(written_with(metadata, channels));
}

void marker(jpeg_compress_struct& jpeg, int code, std::string_view content) {
  const Bytes bytes = bytes_of(content);
  jpeg_write_marker(&jpeg, code, bytes.data(), static_cast<unsigned>(bytes.size()));
}

Metadata metadata_with_marker(int code, std::string_view content) {
  JpegRecipe recipe;
  recipe.after_start = [&](jpeg_compress_struct& jpeg) { marker(jpeg, code, content); };
  return metadata_in(encode_with_libjpeg(test::flat_raster(1, 1, {1, 2, 3}), recipe));
}

TEST(JpegMetadata, IsEmptyWhereTheFileSaysNothing) {
  const Metadata metadata = metadata_in(encode_with_libjpeg(test::flat_raster(1, 1, {1, 2, 3})));
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
  const Metadata read = round_trip(metadata);
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
  EXPECT_NE(text.find("\xFF\xE1\x00\x0B"
                      "Exif\0\0II*"sv),
            std::string::npos);
  EXPECT_NE(text.find("\xFF\xE1\x00\x23"
                      "http://ns.adobe.com/xap/1.0/\0<x/>"sv),
            std::string::npos);
}

TEST(JpegMetadata, HoldsSegmentsUpToTheirLimit) {
  Metadata metadata;
  metadata.exif.assign(65533 - 6, 'e');
  metadata.xmp.assign(65533 - 29, 'x');
  metadata.text = {{"Comment", std::string(65533, 'c'), "", ""}};
  Metadata read = round_trip(metadata);
  EXPECT_EQ(read.exif.size(), metadata.exif.size());
  EXPECT_EQ(read.xmp.size(), metadata.xmp.size());
  EXPECT_EQ(read.text, metadata.text);

  metadata.exif.push_back('e');
  metadata.xmp.push_back('x');
  metadata.text[0].text += 'c';
  read = round_trip(metadata);
  EXPECT_TRUE(read.exif.empty());
  EXPECT_TRUE(read.xmp.empty());
  EXPECT_TRUE(read.text.empty());
}

TEST(JpegMetadata, DropsTextThatHasNoPlace) {
  Metadata metadata;
  metadata.text = {{"Author", "someone", "", ""}, {"Comment", "kept", "", ""}};
  const Metadata read = round_trip(metadata);
  ASSERT_EQ(read.text.size(), 1U);
  EXPECT_EQ(read.text[0].text, "kept");
}

TEST(JpegMetadata, WritesOnlyProfilesOfThePicturesColors) {
  const auto survives = [](std::string_view color_space, int channels, std::size_t size) {
    Metadata metadata;
    metadata.icc_profile.emplace().data = profile_of(color_space, size);
    return round_trip(metadata, channels).icc_profile.has_value();
  };
  EXPECT_TRUE(survives("RGB ", 3, 128));
  EXPECT_TRUE(survives("GRAY", 1, 128));
  EXPECT_FALSE(survives("GRAY", 3, 128));
  EXPECT_FALSE(survives("RGB ", 1, 128));
  EXPECT_FALSE(survives("CMYK", 3, 128));
  EXPECT_FALSE(survives("RGB ", 3, 127));
}

TEST(JpegMetadata, DropsTheProfileOfCmyk) {
  const Bytes profile = profile_of("CMYK", 500);
  JpegRecipe recipe;
  recipe.raster_colors = JCS_CMYK;
  recipe.stored_colors = JCS_CMYK;
  recipe.after_start = [&](jpeg_compress_struct& jpeg) {
    jpeg_write_icc_profile(&jpeg, profile.data(), static_cast<unsigned>(profile.size()));
  };
  const Bytes jpeg = encode_with_libjpeg(test::flat_raster(1, 1, {1, 2, 3, 4}), recipe);
  EXPECT_FALSE(metadata_in(jpeg).icc_profile);
}

TEST(JpegMetadata, DropsADamagedProfileAlone) {
  // The first of two parts, and no second.
  const Metadata metadata =
      metadata_with_marker(JPEG_APP0 + 2, "ICC_PROFILE\0\x01\x02 the first of two"sv);
  EXPECT_FALSE(metadata.icc_profile);
}

TEST(JpegMetadata, ReadsCommentsOfBothEncodings) {
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
  JpegRecipe recipe;
  recipe.after_start = [](jpeg_compress_struct& jpeg) {
    marker(jpeg, JPEG_APP0 + 1, "something else");
    marker(jpeg, JPEG_APP0 + 1, "Exif\0\0first"sv);
    marker(jpeg, JPEG_APP0 + 1, "Exif\0\0second"sv);
  };
  const auto jpeg = encode_with_libjpeg(test::flat_raster(1, 1, {1, 2, 3}), recipe);
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
  const std::vector<DensityCase> cases{
      {1, 300, 72, Density{metre, 11811, 2835}},
      {1, 96, 96, Density{metre, 3780, 3780}},
      {2, 118, 40, Density{metre, 11800, 4000}},
      {0, 4, 3, Density{Density::Unit::aspect_ratio, 4, 3}},
      {0, 1, 1, std::nullopt},
      {1, 0, 72, std::nullopt},
      {3, 5, 6, std::nullopt},
  };
  for (const DensityCase& density : cases) {
    JpegRecipe recipe;
    recipe.before_start = [&](jpeg_compress_struct& jpeg) {
      jpeg.density_unit = static_cast<UINT8>(density.unit);
      jpeg.X_density = static_cast<UINT16>(density.x);
      jpeg.Y_density = static_cast<UINT16>(density.y);
    };
    const auto jpeg = encode_with_libjpeg(test::flat_raster(1, 1, {1, 2, 3}), recipe);
    const auto read = metadata_in(jpeg).density;
    SCOPED_TRACE(testing::Message() << density.unit << " " << density.x << " " << density.y);
    ASSERT_EQ(read.has_value(), density.expected.has_value());
    if (!read) continue;
    EXPECT_EQ(read->unit, density.expected->unit);
    EXPECT_EQ(read->x, density.expected->x);
    EXPECT_EQ(read->y, density.expected->y);
  }
}

// Every density that a JPEG can express survives a copy unchanged.
TEST(JpegMetadata, KeepsEveryDensity) {
  for (std::uint32_t value = 1; value < 65536; value += value < 700 ? 1 : 977) {
    const std::uint32_t from_dpi = (value * 10000 + 127) / 254;
    for (const std::uint32_t per_metre : {from_dpi, value * 100}) {
      Metadata metadata;
      metadata.density = Density{Density::Unit::per_metre, per_metre, per_metre};
      const auto read = round_trip(metadata).density;
      ASSERT_TRUE(read) << per_metre;
      ASSERT_EQ(read->x, per_metre);
      ASSERT_EQ(read->y, per_metre);
    }
  }
  Metadata metadata;
  metadata.density = Density{Density::Unit::aspect_ratio, 4, 3};
  EXPECT_EQ(round_trip(metadata).density->x, 4U);
  metadata.density = Density{Density::Unit::per_metre, 4'000'000'000, 1};
  EXPECT_FALSE(round_trip(metadata).density);
}

}  // namespace
}  // namespace gpufilter

// What stands behind a JPEG's picture, and what announces it.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "codec/jpeg/codec.hpp"
#include "codec/jpeg/metadata/metadata.hpp"
#include "support/coding.hpp"
#include "support/jpeg.hpp"
#include "support/jpeg_parts.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

using namespace std::string_literals;
using test::decode;
using test::encode_with_libjpeg;
using test::JpegRecipe;
using test::write_one_pixel;
using test::write_segment;
using Names = std::vector<std::string>;

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
  JpegRecipe recipe;
  recipe.after_start = [&](jpeg_compress_struct& jpeg) {
    for (const auto& [code, content] : segments)
      write_segment(jpeg, code, content);
  };
  Bytes jpeg = encode_with_libjpeg(test::textured_raster(40, 30, 3), recipe);
  jpeg.insert(jpeg.end(), behind.begin(), behind.end());
  return jpeg;
}

std::string another_jpeg() {
  const Bytes jpeg = encode_with_libjpeg(test::flat_raster(3, 3, {1, 2, 3}));
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
TEST(JpegParts, PreviewsAndEmptyPromisesDoNotCount) {
  EXPECT_EQ(unread(jpeg_with({{0xE2, index_of({preview})}}, another_jpeg())), Names{});
  EXPECT_EQ(unread(jpeg_with({{0xE2, index_of({other})}, {0xE2, gain_map_segment()}}, "")),
            Names{});
  EXPECT_EQ(unread(jpeg_with({}, std::string(64, '\0') + "\n")), Names{});
}

// A picture without an index is found once the first one has been read.
TEST(JpegParts, APictureThatNothingAnnounces) {
  const auto reader = open_picture(memory_source(jpeg_with({}, another_jpeg()), "in"));
  Image image(reader->header().size, reader->header().format);
  reader->read(image.rows());
  static_cast<void>(reader->finish());
  EXPECT_EQ(reader->header().unread, Names{"1 more picture"});
}

// Readers of the new file would look for what is not there.
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
  EXPECT_FALSE(test::contains(bytes, "MPF"));
  EXPECT_FALSE(test::contains(bytes, "21496"));
  EXPECT_TRUE(test::contains(bytes, "stays"));
}

// Restart markers and further scans lie between the header and the end.
TEST(JpegParts, OfFilesWithSeveralScansAndRestarts) {
  for (const bool progressive : {false, true}) {
    JpegRecipe recipe{.progressive = progressive, .restart_rows = 1};
    Bytes jpeg = encode_with_libjpeg(test::textured_raster(300, 200, 3), recipe);
    const std::string behind = film();
    jpeg.insert(jpeg.end(), behind.begin(), behind.end());
    EXPECT_EQ(unread(jpeg), Names{"a film"});
  }
}

}  // namespace
}  // namespace gpufilter

// Segments of metadata from JPEG to JPEG: all of them, as they are, in their order.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "codec/jpeg/codec.hpp"
#include "codec/jpeg/metadata/metadata.hpp"
#include "support/jpeg.hpp"
#include "support/jpeg_parts.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using test::bytes_of;
using test::encode_with_libjpeg;
using test::JpegRecipe;
using test::write_one_pixel;
using test::write_segment;
using test::WrittenJpeg;

// The codes of the segments of metadata, in order, and their contents.
using Segments = std::vector<std::pair<int, std::string>>;
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
  JpegRecipe recipe;
  recipe.after_start = [&](jpeg_compress_struct& jpeg) {
    for (const auto& [code, content] : stored)
      write_segment(jpeg, code, content);
  };
  const auto reader = open_jpeg(
      memory_source(encode_with_libjpeg(test::flat_raster(1, 1, {1, 2, 3}), recipe), "a.jpg"), {});
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

  // Further EXIF and XMP may say the place.
  for (const auto& [marker, segment] :
       segments_of(write_one_pixel(header, 3, WriteOptions().set(strip_option(), "gps")).jpeg)) {
    EXPECT_FALSE(segment.starts_with("http://ns.adobe.com/xmp/extension/"));
    EXPECT_NE(segment, "Exif");
  }
}

// The index says where other pictures are in the file, which are not kept.
TEST(JpegMetadataLayout, NamesPicturesThatItDoesNotKeep) {
  JpegRecipe recipe;
  recipe.after_start = [&](jpeg_compress_struct& jpeg) {
    write_segment(jpeg, 0xE2, "MPF\0II*\0"sv);
  };
  const auto reader = open_jpeg(
      memory_source(encode_with_libjpeg(test::flat_raster(1, 1, {1, 2, 3}), recipe), "a.jpg"), {});
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

}  // namespace
}  // namespace gpufilter

// Thumbnails leave metadata, everything else stays where it is.
#include "image/metadata.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "image/exif.hpp"
#include "image/exif_orientation.hpp"
#include "image/image_resources.hpp"
#include "image/tiff.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

using namespace std::string_literals;
using test::bytes_of;

struct Entry {
  unsigned tag;
  unsigned type;
  unsigned count;
  unsigned value;  // or where it stands
};

// EXIF written out entry by entry, in either byte order.
class ExifBuilder {
 public:
  explicit ExifBuilder(bool little) : little_(little) {
    exif_ = bytes_of(little ? "II" : "MM");
    put(42, 2);
    put(8, 4);
  }
  void directory(const std::vector<Entry>& entries, unsigned next) {
    put(static_cast<unsigned>(entries.size()), 2);
    for (const Entry& entry : entries) {
      put(entry.tag, 2);
      put(entry.type, 2);
      put(entry.count, 4);
      if (entry.type == 3 && entry.count == 1) {
        put(entry.value, 2);
        put(0, 2);
      } else {
        put(entry.value, 4);
      }
    }
    put(next, 4);
  }
  void data(std::string_view text) { exif_.insert(exif_.end(), text.begin(), text.end()); }
  [[nodiscard]] const Bytes& exif() const { return exif_; }

 private:
  void put(unsigned value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) {
      const unsigned shift = 8 * (little_ ? i : bytes - 1 - i);
      exif_.push_back(static_cast<std::uint8_t>(value >> shift));
    }
  }
  bool little_;
  Bytes exif_;
};

// Layout: header 8, first directory 8..50, text 50..58, second directory 58..100, thumbnail.
Bytes exif_with_thumbnail(bool little) {
  ExifBuilder builder(little);
  builder.directory({{0x010f, 2, 8, 50}, {0x0112, 3, 1, 6}, {0x0131, 2, 4, 0x41424300}}, 58);
  builder.data("maker\0\0\0"s);
  builder.directory({{0x0103, 3, 1, 6}, {0x0201, 4, 1, 100}, {0x0202, 4, 1, 4}}, 0);
  builder.data("JPEG");
  return builder.exif();
}

TEST(ExifThumbnail, IsCutOffAtTheEnd) {
  for (const bool little : {true, false}) {
    Bytes exif = exif_with_thumbnail(little);
    ASSERT_EQ(exif.size(), 104U);
    Bytes expected(exif.begin(), exif.begin() + 58);
    std::fill(expected.begin() + 46, expected.begin() + 50, std::uint8_t{0});  // the link
    remove_exif_thumbnail(exif);
    EXPECT_EQ(exif, expected);
    EXPECT_EQ(exif_orientation(exif), 6);
  }
}

// What follows keeps its place, as offsets that only a camera maker knows may lead there.
TEST(ExifThumbnail, BecomesZerosBeforeOtherData) {
  Bytes exif = exif_with_thumbnail(true);
  const Bytes more = bytes_of("a maker's notes");
  exif.insert(exif.end(), more.begin(), more.end());
  remove_exif_thumbnail(exif);
  ASSERT_EQ(exif.size(), 104 + more.size());
  EXPECT_TRUE(std::all_of(exif.begin() + 58, exif.begin() + 104, [](int b) { return b == 0; }));
  EXPECT_TRUE(std::equal(more.begin(), more.end(), exif.begin() + 104));
}

// A thumbnail that claims bytes of the picture's own directory does not take them along.
TEST(ExifThumbnail, LeavesBytesThatOthersUse) {
  ExifBuilder builder(true);
  builder.directory({{0x010f, 2, 8, 38}, {0x0112, 3, 1, 6}}, 46);
  builder.data("maker\0\0\0"s);
  builder.directory({{0x0201, 4, 1, 0}, {0x0202, 4, 1, 1000}}, 0);
  Bytes exif = builder.exif();
  Bytes expected(exif.begin(), exif.begin() + 46);
  std::fill(expected.begin() + 34, expected.begin() + 38, std::uint8_t{0});
  remove_exif_thumbnail(exif);
  EXPECT_EQ(exif, expected);
}

TEST(ExifThumbnail, NothingElseIsTouched) {
  const Bytes whole = exif_with_thumbnail(false);
  for (const std::size_t size : {0, 1, 7, 8, 9, 30, 49, 58, 59}) {
    Bytes exif(whole.begin(), whole.begin() + static_cast<long>(size));
    const Bytes before = exif;
    remove_exif_thumbnail(exif);
    EXPECT_EQ(exif, before) << size;
  }
  Bytes text = bytes_of("not a TIFF structure");
  remove_exif_thumbnail(text);
  EXPECT_EQ(text, bytes_of("not a TIFF structure"));
}

// Every byte changed at random, thousands of times: no access outside the bytes, no endless loop,
// and the first directory's orientation is what it was.
TEST(ExifThumbnail, SurvivesDamage) {
  std::mt19937 random(19);
  for (int round = 0; round < 20'000; ++round) {
    Bytes exif = exif_with_thumbnail(random() % 2 == 0);
    const int changes = 1 + static_cast<int>(random() % 8);
    for (int i = 0; i < changes; ++i) {
      const std::uint8_t value = random() % 3 == 0 ? 0xff : static_cast<std::uint8_t>(random());
      exif[random() % exif.size()] = value;
    }
    exif.resize(exif.size() - random() % 40);
    const int orientation = exif_orientation(exif);
    const std::size_t size = exif.size();
    remove_exif_thumbnail(exif);
    ASSERT_LE(exif.size(), size);
    ASSERT_EQ(exif_orientation(exif), orientation) << round;
  }
}

TEST(ExifOrientation, StandsAlone) {
  for (const bool little : {true, false}) {
    const Bytes alone = exif_with_orientation_alone(exif_with_thumbnail(little));
    EXPECT_EQ(exif_orientation(alone), 6);
    EXPECT_EQ(alone.size(), 26U);
    EXPECT_EQ(Tiff(alone).entry_count(8), 1U);
  }
  EXPECT_TRUE(exif_with_orientation_alone(bytes_of("II*\0\x08\0\0\0\0\0"s)).empty());
  EXPECT_TRUE(exif_with_orientation_alone({}).empty());
}

const std::string iptc = "8BIM\x04\x04\0\0\0\0\0\x03\x1c\x02\x05\0"s;
const std::string named = "8BIM\x04\x0b\4name\0\0\0\0\2ab"s;
const std::string thumbnail =
    "8BIM\x04\x0c\0\0\0\0\0\x05"
    "JPEG!\0"s;
const std::string old_thumbnail =
    "8BIM\x04\x09\0\0\0\0\0\x01"
    "J\0"s;

std::string without_thumbnails(const std::string& resources) {
  Bytes bytes = bytes_of(resources);
  remove_resource_thumbnails(bytes);
  return {bytes.begin(), bytes.end()};
}

TEST(ImageResources, LoseTheirThumbnails) {
  EXPECT_EQ(without_thumbnails(iptc + thumbnail + named + old_thumbnail), iptc + named);
  EXPECT_EQ(without_thumbnails(thumbnail), "");
  EXPECT_EQ(without_thumbnails(iptc + named), iptc + named);
  EXPECT_EQ(without_thumbnails(""), "");
  const std::string without_padding = thumbnail.substr(0, thumbnail.size() - 1);
  EXPECT_EQ(without_thumbnails(iptc + without_padding), iptc);
}

TEST(ImageResources, StayFromTheFirstDamagedOneOn) {
  for (const std::string& damaged :
       {"8BIN"s, "8BIM\4\4\0\0\xff\xff\xff\xff"s, "8BIM\4\4\xff"s, "8"s}) {
    EXPECT_EQ(without_thumbnails(thumbnail + damaged + thumbnail), damaged + thumbnail) << damaged;
  }
}

TEST(ImageResources, HoldBareIptc) {
  EXPECT_EQ(resources_from_iptc({0x1c, 0x02, 0x05}), bytes_of(iptc));
  EXPECT_EQ(resources_from_iptc(bytes_of(iptc)), bytes_of(iptc));
  EXPECT_TRUE(resources_from_iptc({}).empty());
}

TEST(Kept, IsWhatPixelsMeanWithoutAnyContent) {
  Metadata metadata;
  metadata.icc_profile.emplace().data = {1, 2, 3};
  metadata.exif = exif_with_thumbnail(true);
  metadata.image_resources = bytes_of(iptc);
  metadata.xmp = bytes_of("<x/>");
  metadata.gamma = 1;
  metadata.chromaticity.emplace();
  metadata.srgb_intent = 2;
  metadata.coding_points.emplace();
  metadata.density.emplace();
  metadata.text = {{"Title", "T", "", ""}};
  const Metadata kept = kept_part(metadata, {MetadataKind::icc, MetadataKind::density});
  EXPECT_EQ(kept.icc_profile->data, metadata.icc_profile->data);
  EXPECT_EQ(kept.exif, exif_with_orientation_alone(metadata.exif));
  EXPECT_EQ(kept.gamma, 1);
  EXPECT_TRUE(kept.chromaticity && kept.coding_points && kept.density);
  EXPECT_EQ(kept.srgb_intent, 2);
  EXPECT_TRUE(kept.image_resources.empty() && kept.xmp.empty() && kept.text.empty());
}

}  // namespace
}  // namespace gpufilter

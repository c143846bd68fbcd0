// Thumbnails leave metadata, everything else stays where it is.
#include "image/metadata.hpp"

#include "image/exif.hpp"
#include "image/icc.hpp"
#include "image/tiff.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {
namespace {

using namespace std::string_literals;
using Tags = std::vector<std::pair<std::string, std::string>>;

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

TEST(ExifThumbnail, IsCutOffAtTheEndAndBecomesZerosBeforeOtherData) {
  for (const bool little : {true, false}) {
    Bytes exif = exif_with_thumbnail(little);
    ASSERT_EQ(exif.size(), 104U);
    Bytes expected(exif.begin(), exif.begin() + 58);
    std::fill(expected.begin() + 46, expected.begin() + 50, std::uint8_t{0});  // the link
    remove_exif_thumbnail(exif);
    EXPECT_EQ(exif, expected);
    EXPECT_EQ(exif_orientation(exif), 6);
  }
  // What follows keeps its place, as offsets that only a camera maker knows may lead there.
  Bytes exif = exif_with_thumbnail(true);
  const Bytes more = bytes_of("a maker's notes");
  exif.insert(exif.end(), more.begin(), more.end());
  remove_exif_thumbnail(exif);
  ASSERT_EQ(exif.size(), 104 + more.size());
  EXPECT_TRUE(std::all_of(exif.begin() + 58, exif.begin() + 104, [](int b) { return b == 0; }));
  EXPECT_TRUE(std::equal(more.begin(), more.end(), exif.begin() + 104));
}

// A thumbnail that claims bytes of the picture's own directory does not take them along.
TEST(ExifThumbnail, LeavesBytesThatOthersUseAndNothingElseIsTouched) {
  ExifBuilder builder(true);
  builder.directory({{0x010f, 2, 8, 38}, {0x0112, 3, 1, 6}}, 46);
  builder.data("maker\0\0\0"s);
  builder.directory({{0x0201, 4, 1, 0}, {0x0202, 4, 1, 1000}}, 0);
  Bytes exif = builder.exif();
  Bytes expected(exif.begin(), exif.begin() + 46);
  std::fill(expected.begin() + 34, expected.begin() + 38, std::uint8_t{0});
  remove_exif_thumbnail(exif);
  EXPECT_EQ(exif, expected);
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

TEST(ImageResources, LoseTheirThumbnailsAndStayFromTheFirstDamagedOneOn) {
  EXPECT_EQ(without_thumbnails(iptc + thumbnail + named + old_thumbnail), iptc + named);
  EXPECT_EQ(without_thumbnails(thumbnail), "");
  EXPECT_EQ(without_thumbnails(iptc + named), iptc + named);
  EXPECT_EQ(without_thumbnails(""), "");
  const std::string without_padding = thumbnail.substr(0, thumbnail.size() - 1);
  EXPECT_EQ(without_thumbnails(iptc + without_padding), iptc);
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

// Which curve leads from samples to light: of profiles built here, number by number.

void append_number(std::string& bytes, std::uint32_t number, int size) {
  for (int byte = size - 1; byte >= 0; --byte)
    bytes += static_cast<char>(number >> (8U * static_cast<unsigned>(byte)));
}

std::string gamma_tag(double gamma) {
  std::string tag("curv\0\0\0\0", 8);
  append_number(tag, 1, 4);
  append_number(tag, static_cast<std::uint32_t>(gamma * 256), 2);
  return tag;
}

std::string table_tag(const std::vector<std::uint32_t>& values) {
  std::string tag("curv\0\0\0\0", 8);
  append_number(tag, static_cast<std::uint32_t>(values.size()), 4);
  for (const std::uint32_t value : values)
    append_number(tag, value, 2);
  return tag;
}

std::string parametric_tag(int function, const std::vector<double>& numbers) {
  std::string tag("para\0\0\0\0", 8);
  append_number(tag, static_cast<std::uint32_t>(function), 2);
  append_number(tag, 0, 2);
  for (const double number : numbers)
    append_number(tag, static_cast<std::uint32_t>(std::lround(number * 65536)), 4);
  return tag;
}

Bytes profile_of(std::string_view color_space, const Tags& tags) {
  std::string bytes(128, '\0');
  bytes.replace(16, 4, color_space);
  bytes.replace(36, 4, "acsp");
  append_number(bytes, static_cast<std::uint32_t>(tags.size()), 4);
  std::size_t at = bytes.size() + 12 * tags.size();
  std::string values;
  for (const auto& [name, value] : tags) {
    bytes += name;
    append_number(bytes, static_cast<std::uint32_t>(at + values.size()), 4);
    append_number(bytes, static_cast<std::uint32_t>(value.size()), 4);
    values += value;
  }
  bytes += values;
  return {bytes.begin(), bytes.end()};
}

Bytes rgb_profile(const std::string& red, const std::string& green, const std::string& blue) {
  return profile_of("RGB ", {{"cprt", "text"}, {"rTRC", red}, {"gTRC", green}, {"bTRC", blue}});
}
Bytes rgb_profile(const std::string& curve) {
  return rgb_profile(curve, curve, curve);
}

std::string objection_to(const Bytes& profile) {
  try {
    static_cast<void>(icc_curves(profile));
  } catch (const NoIccCurves& error) {
    return error.what();
  }
  return "none";
}

template <typename Function>
void expect_curve(const TransferCurve& curve, const Function& light) {
  for (int i = 0; i <= 1000; ++i)
    EXPECT_NEAR(light_of(curve, i / 1000.0), light(i / 1000.0), 1e-12) << i;
}

TEST(TransferCurve, OfSrgb) {
  expect_curve(srgb_curve(), [](double x) {
    return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  });
}

TEST(IccCurves, OfEachFunction) {
  const auto curve = [](int function, const std::vector<double>& numbers) {
    return icc_curves(rgb_profile(parametric_tag(function, numbers)))[1];
  };
  // Numbers that 16 binary places hold.
  const double a = 0.9375;
  const double b = 0.0625;
  expect_curve(curve(0, {2.25}), [&](double x) { return std::pow(x, 2.25); });
  expect_curve(curve(1, {1.5, 1.25, -0.25}),
               [&](double x) { return x < 0.2 ? 0 : std::pow(1.25 * x - 0.25, 1.5); });
  expect_curve(curve(2, {1.5, 1, -0.25, 0.125}),
               [&](double x) { return 0.125 + (x < 0.25 ? 0 : std::pow(x - 0.25, 1.5)); });
  expect_curve(curve(3, {2.5, a, b, 0.0625, 0.125}),
               [&](double x) { return x < 0.125 ? x / 16 : std::pow(a * x + b, 2.5); });
  expect_curve(curve(4, {2.5, a, b, 0.0625, 0.125, 0.03125, 0.015625}), [&](double x) {
    return x < 0.125 ? x / 16 + 0.015625 : std::min(std::pow(a * x + b, 2.5) + 0.03125, 1.0);
  });
}

TEST(IccCurves, OfTablesAndPowers) {
  const auto curves =
      icc_curves(rgb_profile(gamma_tag(1.8), table_tag({}), table_tag({0, 10000, 10000, 65535})));
  expect_curve(curves[0], [](double x) { return std::pow(x, 460 / 256.0); });  // 1.8, rounded down
  expect_curve(curves[1], [](double x) { return x; });
  EXPECT_NEAR(light_of(curves[2], 1 / 6.0), 5000 / 65535.0, 1e-12);
  EXPECT_NEAR(light_of(curves[2], 0.5), 10000 / 65535.0, 1e-12);
  EXPECT_NEAR(light_of(curves[2], 5 / 6.0), (10000 + 55535 / 2.0) / 65535, 1e-12);
  EXPECT_EQ(light_of(curves[2], 1), 1);
}

TEST(IccCurves, OfGrey) {
  const auto curves = icc_curves(profile_of("GRAY", {{"kTRC", gamma_tag(2)}}));
  for (const TransferCurve& curve : curves)
    expect_curve(curve, [](double x) { return x * x; });
}

TEST(IccCurves, SayWhyThereAreNone) {
  const std::string gamma = gamma_tag(2.2);
  EXPECT_EQ(objection_to({}), "is truncated or damaged");
  EXPECT_EQ(objection_to(Bytes(200)), "is damaged");
  EXPECT_EQ(objection_to(profile_of("CMYK", {})), "is not for RGB or grey pictures");
  EXPECT_EQ(objection_to(profile_of("RGB ", {{"A2B0", "mft2"}})), "has tables instead of curves");
  EXPECT_EQ(objection_to(rgb_profile(gamma, "mft2abcdefgh", gamma)),
            "has a curve of an unknown kind");
  EXPECT_EQ(objection_to(rgb_profile(parametric_tag(5, {1, 1, 1, 1, 1, 1, 1}))),
            "has a curve of an unknown kind");
  constexpr const char* falling = "has a curve that is not increasing";
  EXPECT_EQ(objection_to(rgb_profile(gamma_tag(0))), falling);
  EXPECT_EQ(objection_to(rgb_profile(gamma_tag(11))), falling);
  EXPECT_EQ(objection_to(rgb_profile(table_tag({0, 10, 9, 11}))), falling);
  EXPECT_EQ(objection_to(rgb_profile(table_tag({7, 7}))), falling);
  EXPECT_EQ(objection_to(rgb_profile(parametric_tag(1, {2, 0, 1}))), falling);
  EXPECT_EQ(objection_to(rgb_profile(parametric_tag(3, {2, -1, 1, 0, 0}))), falling);
  EXPECT_EQ(objection_to(rgb_profile(parametric_tag(3, {2, 1, 0, 1, 0.5}))), falling);
}

TEST(IccCurves, SurviveCutAndRandomBytes) {
  const Bytes whole =
      rgb_profile(table_tag({0, 5, 9}), parametric_tag(4, {2, 1, 0, 0, 0, 0, 0}), gamma_tag(2));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(objection_to({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}),
              "is truncated or damaged")
        << size;
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    Bytes changed = whole;
    for (int i = 0; i < 3; ++i)
      changed.at(128 + random() % (changed.size() - 128)) = static_cast<std::uint8_t>(random());
    static_cast<void>(objection_to(changed));
  }
}

TEST(LightCurves, AreWhatThePictureSays) {
  Metadata metadata;
  EXPECT_EQ(light_curves(metadata), LightCurves{});
  metadata.gamma = 50000;
  EXPECT_EQ(light_curves(metadata).name, "gamma 2");
  EXPECT_EQ(light_curves(metadata).colors[0], TransferCurve{.gamma = 2});
  metadata.srgb_intent = 0;
  EXPECT_EQ(light_curves(metadata), LightCurves{});
  metadata.icc_profile.emplace().data = rgb_profile(gamma_tag(1.8));
  EXPECT_EQ(light_curves(metadata).name, "curve of the ICC profile");
  EXPECT_EQ(light_curves(metadata).colors[2].gamma, 460 / 256.0);
  metadata.coding_points = {1, 8, 0, 1};
  EXPECT_EQ(light_curves(metadata).name, "gamma 1");
  metadata.coding_points = {1, 13, 0, 1};
  EXPECT_EQ(light_curves(metadata), LightCurves{});
}

TEST(LightCurves, SayWhyTheyAreNotThePictures) {
  Metadata metadata;
  metadata.gamma = 1;
  EXPECT_EQ(light_curves(metadata).warning,
            "--linear: the picture's gamma, 1e+05, is out of range; sRGB's curve is used instead");
  metadata.icc_profile.emplace().data = profile_of("RGB ", {{"A2B0", "mft2"}});
  EXPECT_EQ(light_curves(metadata).warning,
            "--linear: the ICC profile has tables instead of curves; sRGB's curve is used instead");
  metadata.coding_points = {9, 16, 0, 1};
  EXPECT_EQ(light_curves(metadata).warning,
            "--linear: the picture has the transfer function 16 (cICP), which is not supported; "
            "sRGB's curve is used instead");
  EXPECT_EQ(light_curves(metadata).colors, LightCurves{}.colors);
}

}  // namespace
}  // namespace gpufilter::test

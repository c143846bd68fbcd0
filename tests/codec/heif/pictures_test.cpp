// Pictures that are made of others, turned and cropped ones, alpha, and samples of limited range.
#include "support/pictures.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <libheif/heif.h>

#include "codec/heif/codec.hpp"
#include "image/sample_arithmetic.hpp"
#include "support/coding.hpp"
#include "support/heif_sketch.hpp"
#include "support/naive_stages.hpp"

namespace gpufilter::test {
namespace {

class HeifPictures : public ::testing::TestWithParam<const Codec*> {
 protected:
  void SetUp() override {
    const bool is_avif = &codec() == &avif_codec();
    if (heif_have_encoder_for_format(is_avif ? heif_compression_AV1 : heif_compression_HEVC) == 0)
      GTEST_SKIP() << "skipped: libheif has no encoder for " << codec().name;
  }
  [[nodiscard]] static const Codec& codec() { return *GetParam(); }
  [[nodiscard]] static std::string brand() { return &codec() == &avif_codec() ? "avif" : "heic"; }

  [[nodiscard]] static SketchedItem item(std::uint16_t id, const Image& image) {
    return coded_item(id, encode(codec(), image, with_option(lossless_option(), "always")).file);
  }

  // As libheif writes them, with as many bits as it does.
  [[nodiscard]] static Image kept(const Image& image) {
    return decode(encode(codec(), image, with_option(lossless_option(), "always")).file).image;
  }

  // Expects a picture of this size whose samples `sample` gives.
  static void expect_picture(const Bytes& file, const ImageSize& size, const PixelFormat& format,
                             const std::function<std::uint32_t(int x, int y, int c)>& sample) {
    const Decoded decoded = decode(file);
    ASSERT_EQ(decoded.header.size, size);
    ASSERT_EQ(decoded.header.format, format);
    for (const auto [x, y, c] : each_sample(size, format.channels))
      ASSERT_EQ(sample_at(decoded.image, x, y, c), sample(x, y, c)) << x << "," << y << "," << c;
  }
};

TEST_P(HeifPictures, AGridIsOnePictureOfItsTiles) {
  for (const PixelFormat format : {PixelFormat{3, 8}, PixelFormat{1, 8}, PixelFormat{3, 16}}) {
    std::vector<Image> tiles;
    std::vector<SketchedItem> items{grid_item(1, 2, 3, 180, 120)};
    for (std::uint16_t i = 0; i < 6; ++i) {
      const Image tile = random_image({64, 66}, format, i);
      items.push_back(item(static_cast<std::uint16_t>(i + 2), tile));
      tiles.push_back(kept(tile));
    }
    const Bytes file = heif_file(brand(), 1, items, {{"dimg", 1, {2, 3, 4, 5, 6, 7}}});
    EXPECT_TRUE(decode(file).header.unread.empty());
    expect_picture(file, {180, 120}, format, [&](int x, int y, int c) {
      return sample_at(tiles[static_cast<std::size_t>(y / 66 * 3 + x / 64)], x % 64, y % 66, c);
    });
  }
}

TEST_P(HeifPictures, GreyPartsOfColouredPicturesHaveThreeEqualSamples) {
  const Image grey = random_image({64, 64}, {1, 8}, 1);
  const Image color = random_image({64, 64}, {3, 8}, 2);
  const auto sample = [&](int x, int y, int c) {
    return x < 64 ? sample_at(grey, x, y, 0) : sample_at(color, x - 64, y, c);
  };
  const std::vector<SketchedReference> references{{"dimg", 1, {2, 3}}};
  expect_picture(heif_file(brand(), 1, {grid_item(1, 1, 2, 128, 64), item(2, grey), item(3, color)},
                           references),
                 {128, 64}, {3, 8}, sample);
  expect_picture(heif_file(brand(), 1,
                           {overlay_item(1, {0, 0, 0}, 128, 64, {{0, 0}, {64, 0}}), item(2, grey),
                            item(3, color)},
                           references),
                 {128, 64}, {3, 8}, sample);
}

TEST_P(HeifPictures, AnOverlayShowsItsGroundAndWhatLiesWithinIt) {
  const Image grey = random_image({64, 64}, {1, 8}, 1);
  const auto file = [&](const std::vector<std::uint16_t>& ground) {
    return heif_file(
        brand(), 1,
        {overlay_item(1, ground, 100, 80, {{-7, 3}, {60, 40}, {-64, 0}, {100, 0}}), item(2, grey)},
        {{"dimg", 1, {2, 2, 2, 2}}});
  };
  const auto sample = [&](int x, int y, std::uint32_t ground) {
    if (x >= 60 && y >= 40) return sample_at(grey, x - 60, y - 40, 0);
    return x < 57 && y >= 3 && y < 67 ? sample_at(grey, x + 7, y - 3, 0) : ground;
  };
  expect_picture(file({0xFF00, 0x1234, 0}), {100, 80}, {3, 8}, [&](int x, int y, int c) {
    return sample(x, y, c == 0 ? 255 : c == 1 ? 0x12 : 0);
  });
  expect_picture(file({0x8000, 0x8000, 0x8000}), {100, 80}, {1, 8},
                 [&](int x, int y, int /*c*/) { return sample(x, y, 0x80); });
}

TEST_P(HeifPictures, AnOverlayMixesWhatIsTransparent) {
  const Image top = random_image({64, 64}, {3, 8}, 1);
  const Image alpha = random_image({64, 64}, {1, 8}, 2);
  SketchedItem alpha_item = item(3, alpha);
  alpha_item.properties.push_back(is_alpha());
  expect_picture(
      heif_file(brand(), 1,
                {overlay_item(1, {0xC000, 0x4000, 0}, 64, 64, {{0, 0}}), item(2, top), alpha_item},
                {{"dimg", 1, {2}}, {"auxl", 3, {2}}}),
      {64, 64}, {3, 8}, [&](int x, int y, int c) {
        const std::uint32_t ground = c == 0 ? 0xC0 : c == 1 ? 0x40 : 0;
        return flattened(sample_at(top, x, y, c), sample_at(alpha, x, y, 0), ground, 255);
      });
}

// Their order says what is done first, and nothing else.
TEST_P(HeifPictures, IsTurnedAndCroppedWhereverItsSizeStands) {
  const Image image = random_image({96, 64}, {3, 8}, 1);
  const Image turned = naive_turn(image, quarter_counterclockwise);
  for (const bool is_size_last : {false, true}) {
    for (const bool is_cropped_first : {false, true}) {
      SketchedItem sketched = item(1, image);
      std::vector<Property> changes{turned_by(1)};
      changes.insert(is_cropped_first ? changes.begin() : changes.end(),
                     is_cropped_first ? cropped_to(80, 40) : cropped_to(40, 80));
      sketched.properties.insert(
          is_size_last ? sketched.properties.begin() : sketched.properties.end(), changes.begin(),
          changes.end());
      expect_picture(heif_file(brand(), 1, {sketched}), {40, 80}, {3, 8},
                     [&](int x, int y, int c) { return sample_at(turned, x + 12, y + 8, c); });
    }
  }
}

TEST_P(HeifPictures, DeepPicturesAreMirrored) {
  const Image image = random_image({48, 32}, {4, 16}, 1);
  const Image expected = naive_turn(kept(image), left_right);
  Metadata metadata;
  metadata.exif = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0,
                   3,   0,   0, 0,  1, 0, 2, 0, 0, 0, 0,    0,    0};
  EXPECT_TRUE(same_pixels(
      decode(encode(codec(), image, with_option(lossless_option(), "always"), metadata).file).image,
      expected));
}

TEST_P(HeifPictures, AlphaMayHaveAnotherSizeAndColours) {
  const Image image = random_image({128, 64}, {3, 8}, 1);
  const Image alpha = random_image({64, 64}, {1, 8}, 2);
  SketchedItem small = item(2, alpha);
  small.properties.push_back(is_alpha());
  expect_picture(heif_file(brand(), 1, {item(1, image), small}, {{"auxl", 2, {1}}}), {128, 64},
                 {4, 8}, [&](int x, int y, int c) {
                   return c < 3 ? sample_at(image, x, y, c) : sample_at(alpha, x / 2, y, 0);
                 });
  // Stored as green, blue and red: its luma is the green.
  const Image colored = random_image({128, 64}, {3, 8}, 3);
  SketchedItem luma = item(2, colored);
  luma.properties.push_back(is_alpha());
  expect_picture(heif_file(brand(), 1, {item(1, image), luma}, {{"auxl", 2, {1}}}), {128, 64},
                 {4, 8}, [&](int x, int y, int c) {
                   return c < 3 ? sample_at(image, x, y, c) : sample_at(colored, x, y, 1);
                 });
}

TEST_P(HeifPictures, AlphaMayHaveColoursOfHalfTheResolution) {
  Image grey({128, 64}, {3, 8});
  for (const auto [x, y] : each_pixel({128, 64}))
    std::memset(grey.rows().row(y) + 3 * x, x + y, 3);
  SketchedItem luma =
      coded_item(2, encode(codec(), grey, with_option(quality_option(), "89")).file);
  luma.properties.push_back(is_alpha());
  const Image image = random_image({128, 64}, {3, 8}, 1);
  const Image result =
      decode(heif_file(brand(), 1, {item(1, image), luma}, {{"auxl", 2, {1}}})).image;
  for (const auto [x, y] : each_pixel({128, 64}))
    ASSERT_NEAR(sample_at(result, x, y, 3), static_cast<unsigned>(x + y), 4) << x << "," << y;
}

TEST_P(HeifPictures, GreyOfLimitedRangeIsSpreadToTheFullOne) {
  for (const int depth : {8, 16}) {
    const Image image = random_image({96, 64}, {1, depth}, 1);
    const Bytes file = encode(codec(), image, with_option(lossless_option(), "always")).file;
    const int bits = decode(file).header.file_pixels.depth;
    const std::uint32_t max = (1U << static_cast<unsigned>(bits)) - 1U;
    const std::uint32_t black = 16U << static_cast<unsigned>(bits - 8);
    const std::uint32_t range = 219U << static_cast<unsigned>(bits - 8);
    SketchedItem limited = coded_item(1, file);
    std::erase_if(limited.properties, [](const Property& known) { return known.first == "colr"; });
    limited.properties.push_back(code_points(1, 13, 6, false));
    expect_picture(heif_file(brand(), 1, {limited}), {96, 64}, {1, depth},
                   [&](int x, int y, int /*c*/) {
                     const std::uint32_t stored =
                         scaled_sample(sample_at(image, x, y, 0), depth == 8 ? 255 : 65535, max);
                     const std::uint32_t above = stored - std::min(stored, black);
                     const std::uint32_t full = (std::min(above, range) * max + range / 2) / range;
                     return scaled_sample(full, max, depth == 8 ? 255 : 65535);
                   });
  }
}

INSTANTIATE_TEST_SUITE_P(Both, HeifPictures, ::testing::Values(&heic_codec(), &avif_codec()),
                         [](const auto& codec) { return codec.param->name; });

std::string file_of_case(const std::string& name) {
  return read_file(shared_path("cases/" + name));
}

Decoded decoded_case(const std::string& name) {
  const std::string file = file_of_case(name);
  return decode({file.begin(), file.end()});
}

TEST(HeifCases, AreReadAsTheirMakersMeantThem) {
  GPUFILTER_REQUIRE_SHARED("cases/avif-grey-limited-range.avif");
  const Decoded turned = decoded_case("hostile-avif-irot-before-ispe.avif");
  EXPECT_EQ(turned.header.size, (ImageSize{32, 64}));
  const Decoded limited = decoded_case("avif-grey-limited-range.avif");
  std::uint32_t least = 255;
  std::uint32_t most = 0;
  for (const auto [x, y] : each_pixel({56, 40})) {
    least = std::min(least, sample_at(limited.image, x, y, 0));
    most = std::max(most, sample_at(limited.image, x, y, 0));
  }
  EXPECT_EQ(least, 0U);
  EXPECT_EQ(most, 255U);
  for (const char* name :
       {"hostile-heic-overlay-grey-then-colour.heic", "hostile-heic-overlay-grey-on-red.heic"}) {
    const Decoded overlay = decoded_case(name);
    EXPECT_EQ(overlay.header.format, (PixelFormat{3, 8}));
    EXPECT_NE(sample_at(overlay.image, 100, 32, 0), sample_at(overlay.image, 100, 32, 1));
    EXPECT_EQ(sample_at(overlay.image, 20, 32, 0), sample_at(overlay.image, 20, 32, 1));
  }
}

}  // namespace
}  // namespace gpufilter::test

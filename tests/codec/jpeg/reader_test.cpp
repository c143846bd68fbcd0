#include <array>
#include <cstdlib>
#include <optional>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "codec/jpeg/codec.hpp"
#include "support/jpeg.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

using test::Bytes;
using test::decode_with_codec;
using test::decode_with_libjpeg;
using test::encode_with_libjpeg;
using test::JpegRecipe;
using test::Raster;
using test::refusal_of;

// A colour space, a colour stored in it, and its RGB value, worked out by hand.
struct FlatCase {
  const char* name;
  J_COLOR_SPACE raster_colors;
  J_COLOR_SPACE stored_colors;
  bool adobe_marker;
  Bytes color;
  Bytes expected;
  int tolerance;
};

// The transform between RGB and YCbCr rounds in both directions, so JPEG is lossy even for a flat
// colour at quality 100. Without a transform nothing is lost: the only nonzero coefficient is a
// whole number of steps.
const std::array flat_cases{
    FlatCase{"grey", JCS_GRAYSCALE, JCS_GRAYSCALE, true, {200}, {200}, 0},
    FlatCase{"YCbCr", JCS_RGB, JCS_YCbCr, true, {10, 120, 240}, {10, 120, 240}, 2},
    FlatCase{"RGB", JCS_RGB, JCS_RGB, true, {10, 120, 240}, {10, 120, 240}, 0},
    // Inverted ink: 255 is none. 51 / 255 is a fifth: 200 / 5 = 40, 100 / 5 = 20.
    FlatCase{"CMYK, Adobe", JCS_CMYK, JCS_CMYK, true, {200, 100, 255, 51}, {40, 20, 51}, 0},
    FlatCase{"CMYK", JCS_CMYK, JCS_CMYK, false, {200, 100, 255, 51}, {40, 20, 51}, 0},
    FlatCase{"YCCK", JCS_CMYK, JCS_YCCK, true, {200, 100, 250, 255}, {200, 100, 250}, 2},
    FlatCase{"YCCK, dark", JCS_CMYK, JCS_YCCK, true, {200, 100, 255, 51}, {40, 20, 51}, 1},
};

void expect_flat(const Raster& raster, const FlatCase& flat) {
  ASSERT_EQ(raster.channels, static_cast<int>(flat.expected.size()));
  for (std::size_t i = 0; i < raster.samples.size(); ++i) {
    const int expected = flat.expected[i % flat.expected.size()];
    ASSERT_LE(std::abs(int{raster.samples[i]} - expected), flat.tolerance)
        << "sample " << i << " is " << int{raster.samples[i]} << ", not " << expected;
  }
}

TEST(JpegReader, YieldsTheKnownColorInEveryColorSpace) {
  for (const FlatCase& flat : flat_cases) {
    for (const bool progressive : {false, true}) {
      for (const auto& [width, height] : {std::pair{1, 1}, std::pair{17, 33}}) {
        SCOPED_TRACE(testing::Message() << flat.name << ", progressive " << progressive << ", "
                                        << width << " x " << height);
        JpegRecipe recipe;
        recipe.raster_colors = flat.raster_colors;
        recipe.stored_colors = flat.stored_colors;
        recipe.adobe_marker = flat.adobe_marker;
        recipe.progressive = progressive;
        recipe.quality = 100;
        const auto jpeg = encode_with_libjpeg(test::flat_raster(width, height, flat.color), recipe);
        const Raster raster = decode_with_codec(jpeg);
        EXPECT_EQ(raster.width, width);
        EXPECT_EQ(raster.height, height);
        expect_flat(raster, flat);
      }
    }
  }
}

TEST(JpegReader, DescribesThePicture) {
  const auto reader = open_jpeg(
      memory_source(encode_with_libjpeg(test::textured_raster(31, 7, 3)), "some.jpg"), {});
  EXPECT_EQ(reader->header().file_format, &jpeg_codec());
  EXPECT_EQ(reader->header().size, (ImageSize{31, 7}));
  EXPECT_EQ(reader->header().format, (PixelFormat{3, 8}));
}

TEST(JpegReader, DecodesAsLibjpegDoes) {
  for (const bool progressive : {false, true}) {
    for (const int restart_rows : {0, 1}) {
      JpegRecipe recipe;
      recipe.progressive = progressive;
      recipe.restart_rows = restart_rows;
      const auto color = encode_with_libjpeg(test::textured_raster(203, 101, 3), recipe);
      EXPECT_TRUE(decode_with_codec(color).samples == decode_with_libjpeg(color).samples);
      recipe.raster_colors = JCS_GRAYSCALE;
      recipe.stored_colors = JCS_GRAYSCALE;
      const auto grey = encode_with_libjpeg(test::textured_raster(203, 101, 1), recipe);
      EXPECT_TRUE(decode_with_codec(grey).samples == decode_with_libjpeg(grey).samples);
    }
  }
}

TEST(JpegReader, DecodesArithmeticCoding) {
  JpegRecipe recipe;
  recipe.arithmetic = true;
  const auto jpeg = encode_with_libjpeg(test::textured_raster(203, 101, 3), recipe);
  EXPECT_TRUE(decode_with_codec(jpeg).samples == decode_with_libjpeg(jpeg).samples);
}

TEST(JpegReader, DecodesPhotographsAsLibjpegDoes) {
  for (const char* name : {"photos/canyon-3072x2048.jpg", "photos/launch-3000x1688.jpg",
                           "photos/pier-5470x3646.jpg", "corpora/jpeg/testorig.jpg",
                           "corpora/jpeg/testimgint.jpg", "corpora/jpeg/testimgari.jpg"}) {
    GPUFILTER_REQUIRE_SHARED(name);
    const auto jpeg = test::shared_file(name);
    EXPECT_TRUE(decode_with_codec(jpeg).samples == decode_with_libjpeg(jpeg).samples) << name;
  }
}

TEST(JpegReader, MultipliesInkByKeyAsStored) {
  JpegRecipe recipe;
  recipe.raster_colors = JCS_CMYK;
  recipe.stored_colors = JCS_YCCK;
  const auto jpeg = encode_with_libjpeg(test::textured_raster(67, 45, 4), recipe);
  const Raster cmyk = decode_with_libjpeg(jpeg);
  ASSERT_EQ(cmyk.channels, 4);
  const Raster rgb = decode_with_codec(jpeg);
  ASSERT_EQ(rgb.samples.size(), 67U * 45U * 3U);
  for (std::size_t i = 0; i < rgb.samples.size(); ++i) {
    const int color = cmyk.samples[i / 3 * 4 + i % 3];
    const int key = cmyk.samples[i / 3 * 4 + 3];
    ASSERT_EQ(rgb.samples[i], (color * key + 127) / 255) << i;
  }
}

TEST(JpegReader, RefusesTwelveBits) {
  GPUFILTER_REQUIRE_SHARED("corpora/jpeg/monkey12.jpg");
  EXPECT_EQ(refusal_of(test::shared_file("corpora/jpeg/monkey12.jpg")),
            "some.jpg: this JPEG has 12-bit samples: only 8-bit JPEG can be read");
}

TEST(JpegReader, RefusesComponentsOfUnknownMeaning) {
  JpegRecipe recipe;
  recipe.raster_colors = JCS_UNKNOWN;
  recipe.stored_colors = JCS_UNKNOWN;
  const auto jpeg = encode_with_libjpeg(test::flat_raster(8, 8, {1, 2}), recipe);
  EXPECT_EQ(refusal_of(jpeg), "some.jpg: unsupported JPEG: 2 colour components of unknown meaning");
}

// A header that claims `width` x `height` grey pixels, and nothing after it.
Bytes frame_alone(int width, int height, std::uint8_t frame_marker) {
  const auto high = [](int v) { return static_cast<std::uint8_t>(v >> 8); };
  const auto low = [](int v) { return static_cast<std::uint8_t>(v & 0xFF); };
  return {0xFF,
          0xD8,
          0xFF,
          frame_marker,
          0,
          11,
          8,
          high(height),
          low(height),
          high(width),
          low(width),
          1,
          1,
          0x11,
          0,
          0xFF,
          0xDA,
          0,
          8,
          1,
          1,
          0,
          0,
          63,
          0};
}

TEST(JpegReader, KeepsToTheLimitBeforeAnythingElse) {
  for (const std::uint8_t frame_marker : {std::uint8_t{0xC0}, std::uint8_t{0xC2}}) {
    EXPECT_EQ(refusal_of(frame_alone(65500, 65500, frame_marker)),
              "some.jpg: 65500 x 65500 pixels are more than the limit of 500000000: "
              "raise it with --max-pixels");
  }
  const auto jpeg = encode_with_libjpeg(test::flat_raster(10, 10, {1, 2, 3}));
  EXPECT_EQ(refusal_of(jpeg, {99}),
            "some.jpg: 10 x 10 pixels are more than the limit of 99: raise it with --max-pixels");
  EXPECT_EQ(refusal_of(jpeg, {100}), "");
  // Opening a picture reads only the header.
  const auto reader = open_jpeg(memory_source(frame_alone(65500, 65500, 0xC0), "some.jpg"),
                                {std::uint64_t{65500} * 65500});
  EXPECT_EQ(reader->header().size, (ImageSize{65500, 65500}));
}

TEST(JpegReader, RefusesNoWidthAndNoHeight) {
  EXPECT_NE(refusal_of(frame_alone(0, 8, 0xC0)), "");
  EXPECT_NE(refusal_of(frame_alone(8, 0, 0xC0)), "");
}

// A picture with one scan per component, the last of them `times` times.
Bytes with_repeated_scan(int times) {
  JpegRecipe recipe;
  recipe.one_scan_a_component = true;
  const Bytes jpeg = encode_with_libjpeg(test::textured_raster(16, 16, 3), recipe);
  std::size_t scan = jpeg.size() - 2;
  while (jpeg[scan] != 0xFF || jpeg[scan + 1] != 0xDA)
    --scan;
  Bytes repeated(jpeg.begin(), jpeg.begin() + static_cast<std::ptrdiff_t>(scan));
  for (int i = 0; i < times; ++i) {
    repeated.insert(repeated.end(), jpeg.begin() + static_cast<std::ptrdiff_t>(scan),
                    jpeg.end() - 2);
  }
  repeated.insert(repeated.end(), {0xFF, 0xD9});
  return repeated;
}

TEST(JpegReader, RefusesEndlessScans) {
  const auto once = with_repeated_scan(1);
  EXPECT_TRUE(decode_with_codec(once).samples == decode_with_libjpeg(once).samples);
  EXPECT_EQ(refusal_of(with_repeated_scan(400)), "");
  EXPECT_EQ(refusal_of(with_repeated_scan(600)), "some.jpg: damaged JPEG: more than 500 scans");
}

TEST(JpegReader, IgnoresWhatFollowsTheEnd) {
  auto jpeg = encode_with_libjpeg(test::textured_raster(50, 50, 3));
  const auto expected = decode_with_libjpeg(jpeg).samples;
  jpeg.insert(jpeg.end(), 100000, 0xFF);
  EXPECT_TRUE(decode_with_codec(jpeg).samples == expected);
}

TEST(JpegReader, IgnoresPaddingBetweenSegments) {
  auto jpeg = encode_with_libjpeg(test::textured_raster(50, 50, 3));
  const auto expected = decode_with_libjpeg(jpeg).samples;
  jpeg.insert(jpeg.end() - 2, 7, 0x00);
  jpeg.insert(jpeg.begin() + 20, 3, 0x00);  // after JFIF's segment
  EXPECT_TRUE(decode_with_codec(jpeg).samples == expected);
}

}  // namespace
}  // namespace gpufilter

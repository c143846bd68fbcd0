// --to-srgb and --profile: what they are for a picture, and the same bits on devices.
// tests/cli/profiles_test.cpp compares them with Little CMS's own programs.
#include <algorithm>
#include <cmath>
#include <string_view>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "stages/colour/color.hpp"
#include "stages/colour/color_profile.hpp"
#include "stages/colour/linear.hpp"
#include "stages/window/blur.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/single_pixels.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

// Light is the square of a sample, by sRGB's primaries.
Metadata square_law() {
  Metadata metadata;
  metadata.gamma = 50'000;
  return metadata;
}

Metadata with(const IccProfile& profile) {
  Metadata metadata;
  metadata.icc_profile = profile;
  return metadata;
}

IccProfile square_profile(int channels) {
  return *profile_of(square_law(), {channels, 8});
}

// The samples for light that is the square of a sample.
double srgb_of_square(double sample) {
  const double light = sample * sample;
  return light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

TEST(ToSrgb, FollowsThePicturesProfile) {
  for (const PixelFormat& format : test::all_formats()) {
    Image image({256, 1}, format);
    const double max = format.max_sample();
    for (int x = 0; x < 256; ++x) {
      for (int c = 0; c < format.channels; ++c)
        test::set_sample(image, x, 0, c,
                         static_cast<std::uint32_t>(x) * (format.max_sample() / 255));
    }
    for (const Metadata& metadata : {square_law(), with(square_profile(format.channels))}) {
      const LoweredChain chain = test::lowered({make_to_srgb({})}, format, metadata);
      const Image result = test::filter_on_host(image, chain, {});
      const int colors = result.format().color_channels();
      ASSERT_EQ(result.format(), (PixelFormat{format.has_alpha() ? 4 : 3, format.depth}));
      for (int x = 0; x < 256; ++x) {
        const double expected = srgb_of_square(x / 255.0) * max;
        for (int c = 0; c < colors; ++c)
          EXPECT_NEAR(test::sample_at(result, x, 0, c), expected, format.depth == 8 ? 2 : 257)
              << to_string(format) << " " << x;
        if (format.has_alpha()) {
          EXPECT_EQ(test::sample_at(result, x, 0, colors),
                    test::sample_at(image, x, 0, format.channels - 1));
        }
      }
    }
  }
}

TEST(ToSrgb, LeavesPicturesWithoutProfile) {
  Metadata srgb_gamma;
  srgb_gamma.gamma = 45455;
  for (const PixelFormat& format : test::all_formats()) {
    for (const Metadata& metadata : {Metadata(), srgb_gamma, with(srgb_profile())}) {
      if (metadata.icc_profile && format.color_channels() == 1) continue;
      const LoweredChain chain = test::lowered({make_to_srgb({})}, format, metadata);
      const Step& step = *chain.at(0).steps.at(0);
      EXPECT_TRUE(step.properties({{{9, 9}, format}}).changes_nothing);
      const Image image = test::random_image({300, 9}, format, 1);
      Image result = test::poisoned_image(image.size(), format);
      step.run(image.rows(), result.rows(), {image.size(), image.size()});
      EXPECT_TRUE(test::same_pixels(result, image));
      // A grey file cannot have a profile for RGB, and needs none.
      EXPECT_EQ(chain[0].profile != nullptr, format.color_channels() == 3);
    }
  }
}

TEST(ToProfile, GivesItsColoursAndItsProfile) {
  const auto to_rgb = make_to_profile(square_profile(3), {}, "square.icc");
  const auto to_grey = make_to_profile(square_profile(1), {}, "grey.icc");
  for (const PixelFormat& format : test::all_formats()) {
    const int alpha = format.has_alpha() ? 1 : 0;
    const LoweredChain rgb = test::lowered({to_rgb}, format);
    const PictureShape shape{{9, 9}, format};
    EXPECT_EQ(output_of(rgb, shape).format, (PixelFormat{3 + alpha, format.depth}));
    EXPECT_EQ(rgb[0].profile->data, square_profile(3).data);
    const LoweredChain grey = test::lowered({to_grey}, format);
    EXPECT_EQ(output_of(grey, shape).format, (PixelFormat{1 + alpha, format.depth}));
    EXPECT_EQ(grey[0].profile->data, square_profile(1).data);
    // White stays white.
    Image white({1, 1}, format);
    for (int c = 0; c < format.channels; ++c)
      test::set_sample(white, 0, 0, c, format.max_sample());
    for (const LoweredChain& chain : {rgb, grey}) {
      const Image result = test::filter_on_host(white, chain, {});
      for (int c = 0; c < result.format().channels; ++c)
        EXPECT_EQ(test::sample_at(result, 0, 0, c), format.max_sample());
    }
  }
}

TEST(ToProfile, AndBackIsNearby) {
  const Image image = test::random_image({64, 64}, {3, 16}, 1);
  const LoweredChain chain = test::lowered(
      {make_to_profile(square_profile(3), {}, "square.icc"), make_to_srgb({})}, {3, 16});
  const Image result = test::filter_on_host(image, chain, {});
  for (const auto [x, y] : test::each_pixel({64, 64}))
    EXPECT_NEAR(test::sample_at(result, x, y, 1), test::sample_at(image, x, y, 1), 900);
}

// Alone, first, last, between kernels, and twice: devices give the processor's bits.
TEST(ConvertColors, StandsAnywhereInAChainOnEveryDevice) {
  const auto wide = make_to_profile(square_profile(3), {}, "square.icc");
  const auto blur = make_blur({.border = Border::wrap});
  const auto color = make_color(to_matrix({{0.5, 0.25, 0}, {0, 1, 0}, {0.25, 0, 0.75}}), "");
  const std::vector<StageChain> chains{
      {wide},       {wide, make_to_srgb({})}, {wide, blur},
      {blur, wide}, {color, wide, blur},      {wide, blur, make_to_srgb({}), color}};
  for (const PixelFormat& format : {PixelFormat{3, 8}, PixelFormat{2, 16}}) {
    const Image image = test::random_image({33, 40}, format, 2);
    for (const StageChain& asked : chains) {
      if (format.channels == 2 && asked.size() != 3) continue;
      const LoweredChain chain = test::lowered(asked, format);
      const Image expected = test::filter_on_host(image, chain, {.band_rows = 1000});
      EXPECT_TRUE(
          test::same_pixels(test::filter_on_host(image, chain, {.band_rows = 3}), expected));
      for (Session* session : test::kernel_sessions(format)) {
        for (const int rows : {7, 1000}) {
          EXPECT_TRUE(test::same_pixels(
              test::filter_on_device(*session, image, chain, {.band_rows = rows}), expected));
        }
      }
    }
  }
}

// They count as none.
TEST(ConvertColors, WarnsOfProfilesThatDoNotFit) {
  const auto reason = [](const PixelFormat& format, const Metadata& metadata) {
    const LoweredChain chain = test::lowered({make_to_srgb({})}, format, metadata);
    const std::string& warning = chain.at(0).warning;
    if (warning.empty()) return std::string("none");
    const PictureShape shape{{3, 3}, format};
    EXPECT_TRUE(chain[0].steps.at(0)->properties({shape}).changes_nothing);
    const std::string begin = "--to-srgb: the ICC profile ";
    const std::string end = "; its colours count as sRGB";
    EXPECT_TRUE(warning.starts_with(begin) && warning.ends_with(end)) << warning;
    return warning.substr(begin.size(), warning.size() - begin.size() - end.size());
  };
  IccProfile damaged = square_profile(3);
  damaged.data.resize(100);
  EXPECT_EQ(reason({3, 8}, with(damaged)), "is damaged");
  EXPECT_EQ(reason({3, 8}, with({"icc", {}})), "is damaged");
  EXPECT_EQ(reason({3, 8}, with(square_profile(1))), "is for grey, but the picture is RGB");
  EXPECT_EQ(reason({1, 8}, with(square_profile(1))), "none");
  EXPECT_EQ(reason({1, 8}, with(square_profile(3))), "none");
  IccProfile link = square_profile(3);
  link.data[12] = 'l';
  link.data[13] = 'i';
  link.data[14] = 'n';
  link.data[15] = 'k';
  EXPECT_EQ(reason({3, 8}, with(link)), "does not describe pixels");
  IccProfile inks = square_profile(3);
  inks.data[16] = 'C';
  inks.data[17] = 'M';
  inks.data[18] = 'Y';
  inks.data[19] = 'K';
  EXPECT_EQ(reason({3, 8}, with(inks)), "is for CMYK, but the picture is RGB");
  IccProfile empty = square_profile(3);
  const std::string_view red = "rXYZ";
  const auto tag = std::search(empty.data.begin(), empty.data.end(), red.begin(), red.end());
  ASSERT_NE(tag, empty.data.end());
  *tag = 'x';
  EXPECT_EQ(reason({3, 8}, with(empty)), "has no tables for this conversion");
  IccProfile newer = square_profile(3);
  newer.data[8] = 5;
  EXPECT_EQ(reason({3, 8}, with(newer)), "has version 5 (iccMAX)");
}

TEST(ConvertColors, TellsLaterStagesOfTheProfile) {
  const auto wide = make_to_profile(square_profile(3), {}, "square.icc");
  const LoweredChain chain =
      test::lowered({make_linear({}), make_encoded({}, 8), wide, make_linear({})}, {3, 8});
  EXPECT_EQ(chain[0].title.label, "sRGB curve");
  const LoweredChain direct = test::lowered({make_linear({})}, {3, 8}, with(square_profile(3)));
  EXPECT_EQ(chain[3].title.label, direct[0].title.label);
  EXPECT_NE(chain[3].title.label, "sRGB curve");
}

TEST(ConvertColors, IsRefusedInLinearLight) {
  EXPECT_EQ(test::objection_to([] {
              return with_light_ends({make_linear({}), make_to_srgb({}), make_encoded({}, 8)});
            }),
            "--to-srgb: the stages here work in linear light; put it before --linear or after "
            "--encoded");
  EXPECT_EQ(with_light_ends({make_to_srgb({}), make_linear({})}).size(), 3U);
}

TEST(ConvertColors, KeyDependsOnTargetAndUse) {
  const std::string own = make_to_srgb({})->key();
  EXPECT_EQ(make_to_srgb({})->key(), own);
  EXPECT_NE(make_to_srgb({.intent = RenderingIntent::perceptual})->key(), own);
  EXPECT_NE(make_to_srgb({.black_point_compensation = false})->key(), own);
  EXPECT_NE(make_to_profile(square_profile(3), {}, "")->key(), own);
}

// Otherwise every run would embed another profile.
TEST(SrgbProfile, IsAlwaysTheSame) {
  const Bytes& data = srgb_profile().data;
  ASSERT_GT(data.size(), 128U);
  EXPECT_EQ(Bytes(data.begin() + 24, data.begin() + 36),
            (Bytes{0x07, 0xea, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(colors_of(srgb_profile()), ProfileColors::rgb);
}

}  // namespace
}  // namespace gpufilter

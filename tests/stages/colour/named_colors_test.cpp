// Colours named by code points, and by gamma and chromaticity: converted as their formulas say.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "image/icc.hpp"
#include "stages/colour/color_profile.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

using test::filter_on_host;
using Points = std::array<std::uint8_t, 4>;
using Rgb = std::array<double, 3>;
using ColorMatrix = std::array<Rgb, 3>;

constexpr ColorMatrix from_p3{{{1.2249401763, -0.2249401763, 0},
                               {-0.0420569547, 1.0420569547, 0},
                               {-0.0196375546, -0.0786360456, 1.0982736001}}};
constexpr ColorMatrix from_2020{{{1.6604910021, -0.5876411388, -0.0728498633},
                                 {-0.1245504745, 1.1328998971, -0.0083494226},
                                 {-0.0181507634, -0.1005788980, 1.1187296614}}};
constexpr ColorMatrix same_primaries{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

double light_of_srgb(double x) {
  return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
}
double sample_of_light(double light) {
  return light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}
double video_light(double x) {
  return x < 0.081 ? x / 4.5 : std::pow((x + 0.099) / 1.099, 1 / 0.45);
}

Metadata with_points(const Points& points) {
  Metadata metadata;
  metadata.coding_points = points;
  return metadata;
}

// Every pixel of a picture within 1 of the formula, where that is within the range. Not with 16
// bits: Little CMS then interpolates between 33 nodes, and dark, saturated colours are up to 3 %
// off.
void expect_converted(const Metadata& metadata, const ColorMatrix& matrix,
                      const std::function<double(double)>& light) {
  const PixelFormat format{3, 8};
  const Image image = test::random_image({61, 43}, format, 11);
  const LoweredChain chain = test::lowered({make_to_srgb({})}, format, metadata);
  EXPECT_EQ(chain.at(0).warning, "");
  const Image result = filter_on_host(image, chain, {});
  const double max = format.max_sample();
  for (const auto [x, y] : test::each_pixel({61, 43})) {
    Rgb in{};
    for (int c = 0; c < 3; ++c)
      in.at(c) = light(test::sample_at(image, x, y, c) / max);
    Rgb out{};
    for (int c = 0; c < 3; ++c)
      out.at(c) = matrix.at(c)[0] * in[0] + matrix.at(c)[1] * in[1] + matrix.at(c)[2] * in[2];
    if (*std::min_element(out.begin(), out.end()) < 0.01 ||
        *std::max_element(out.begin(), out.end()) > 0.99) {
      continue;
    }
    for (int c = 0; c < 3; ++c) {
      ASSERT_NEAR(test::sample_at(result, x, y, c), max * sample_of_light(out.at(c)), 1)
          << x << ' ' << y << ' ' << c;
    }
  }
}

TEST(NamedColors, AreConvertedByTheirFormulas) {
  expect_converted(with_points({12, 13, 0, 1}), from_p3, light_of_srgb);
  expect_converted(with_points({1, 1, 0, 1}), same_primaries, video_light);
  expect_converted(with_points({9, 14, 0, 1}), from_2020, video_light);
  expect_converted(with_points({9, 15, 0, 1}), from_2020, video_light);
  expect_converted(with_points({1, 8, 0, 1}), same_primaries, [](double x) { return x; });
  expect_converted(with_points({12, 4, 0, 1}), from_p3, [](double x) { return std::pow(x, 2.2); });
  Metadata numbers;
  numbers.gamma = 55'556;
  numbers.chromaticity = {31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000};
  expect_converted(numbers, from_p3, [](double x) { return std::pow(x, 1 / 0.55556); });
}

TEST(NamedColors, OfSrgbStay) {
  EXPECT_EQ(profile_of(with_points({1, 13, 0, 1}), {3, 8}), nullptr);
  EXPECT_EQ(profile_of({}, {3, 8}), nullptr);
}

// Code points count, whatever profile stands beside them.
TEST(NamedColors, ComeBeforeTheProfile) {
  Metadata both = with_points({12, 13, 0, 1});
  both.icc_profile = *profile_of(with_points({9, 14, 0, 1}), {3, 8});
  expect_converted(both, from_p3, light_of_srgb);
  both.coding_points = Points{1, 13, 0, 1};
  EXPECT_EQ(profile_of(both, {3, 8}), nullptr);
}

TEST(NamedColors, HaveNames) {
  const auto name = [](const Metadata& metadata) { return name_of(*profile_of(metadata, {3, 8})); };
  EXPECT_EQ(name(with_points({12, 13, 0, 1})), "Display P3");
  EXPECT_EQ(name(with_points({1, 1, 0, 1})), "BT.709");
  EXPECT_EQ(name(with_points({9, 14, 0, 1})), "BT.2020");
  EXPECT_EQ(name(with_points({9, 8, 0, 1})), "BT.2020 primaries, cICP transfer 8");
  Metadata numbers;
  numbers.gamma = 50'000;
  EXPECT_EQ(name(numbers), "gamma 2");
  EXPECT_EQ(icc_color_space(profile_of(numbers, {1, 8})->data), "GRAY");
}

TEST(NamedColors, OfHdrAreRefused) {
  for (const auto& [transfer, name] : {std::pair{16, "PQ"}, {18, "HLG"}}) {
    try {
      static_cast<void>(
          profile_of(with_points({9, static_cast<std::uint8_t>(transfer), 0, 1}), {3, 8}));
      FAIL();
    } catch (const RefusedColors& error) {
      EXPECT_EQ(std::string(error.what()),
                std::string("its colours are those of HDR (") + name +
                    "), which have no equal in other colour spaces: map their tones with another "
                    "program first");
    }
  }
}

TEST(NamedColors, ThatAreUnknownCountAsSrgb) {
  for (const Points& points : {Points{2, 2, 0, 1}, Points{12, 2, 0, 1}, Points{10, 13, 0, 1},
                               Points{12, 13, 0, 0}, Points{12, 13, 1, 1}}) {
    const LoweredChain chain = test::lowered({make_to_srgb({})}, {3, 8}, with_points(points));
    EXPECT_TRUE(
        test::contains(chain.at(0).warning, "are not supported; its colours count as sRGB"));
    const PictureShape shape{{4, 4}, {3, 8}};
    EXPECT_TRUE(chain[0].steps.at(0)->properties({shape}).changes_nothing);
  }
}

}  // namespace
}  // namespace gpufilter

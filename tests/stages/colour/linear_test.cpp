// --linear and --encoded: within 1 of double precision, lossless for 8 bits, the same everywhere.
#include "stages/colour/linear.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/objection.hpp"
#include "support/single_pixels.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

double srgb_light(double x) {
  return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
}
double srgb_sample(double light) {
  return light <= 0.0031308 ? light * 12.92 : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

LightCurves curves_of(const TransferCurve& red, const TransferCurve& green,
                      const TransferCurve& blue) {
  return {{red, green, blue}, "three curves"};
}
LightCurves power_curves(double gamma) {
  const TransferCurve curve{.gamma = gamma};
  return curves_of(curve, curve, curve);
}

// The largest difference of a table from `expected`, in levels.
template <typename Function>
double deviation(const LightTable& table, double max, const Function& expected) {
  double largest = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(table.size() - 1);
    largest = std::max(largest, std::abs(table[i] - max * expected(share)));
  }
  return largest;
}

TEST(LightTables, OfSrgbAreNearest) {
  constexpr double nearest = 0.5001;
  for (const int bits : {8, 16}) {
    const double max = (1 << bits) - 1;
    EXPECT_LT(deviation(*linear_tables({}, bits)[0], 65535, srgb_light), nearest) << bits;
    // The standard's two formulas for encoding meet at a rounded number.
    EXPECT_LT(deviation(*encoded_tables({}, 16, bits)[0], max, srgb_sample), nearest) << bits;
    EXPECT_LT(deviation(*encoded_tables({}, 8, bits)[0], max, srgb_sample), nearest) << bits;
  }
}

TEST(LightTables, OfPowersAreWithinOne) {
  for (const double gamma : {0.45, 1.0, 1.8, 2.0, 2.2, 2.6}) {
    const auto light = [&](double x) { return std::pow(x, gamma); };
    const auto sample = [&](double x) { return std::pow(x, 1 / gamma); };
    for (const int bits : {8, 16}) {
      const double max = (1 << bits) - 1;
      EXPECT_LE(deviation(*linear_tables(power_curves(gamma), bits)[0], 65535, light), 1) << gamma;
      const LightTable encoded = *encoded_tables(power_curves(gamma), 16, bits)[0];
      EXPECT_LE(deviation(encoded, max, sample), 1) << gamma << ", " << bits << " bits";
      EXPECT_TRUE(std::is_sorted(encoded.begin(), encoded.end())) << gamma;
    }
  }
}

// Also of a power of 2.2, whose second sample has a light below half a level.
TEST(LightTables, KeepEverySampleOf8Bits) {
  std::vector<LightCurves> all{{}};
  for (const double gamma : {0.45, 1.0, 1.5, 1.8, 2.0, 2.2})
    all.push_back(power_curves(gamma));
  for (const LightCurves& curves : all) {
    const LightTable linear = *linear_tables(curves, 8)[0];
    const LightTable encoded = *encoded_tables(curves, 16, 8)[0];
    for (std::size_t i = 0; i < linear.size(); ++i)
      EXPECT_EQ(encoded[linear[i]], i) << curves.colors[0].gamma;
  }
}

TEST(LightTables, OfAFlatCurveKeepBlackAndWhite) {
  const TransferCurve flat{.table = {0, 0, 0, 30000, 60000, 60000}};
  const LightCurves curves = curves_of(flat, flat, flat);
  for (const int bits : {8, 16}) {
    const LightTable encoded = *encoded_tables(curves, 16, bits)[0];
    EXPECT_EQ(encoded.front(), 0);
    EXPECT_EQ(encoded.back(), (1 << bits) - 1);
  }
}

// The chain's stages on single pixels, by the tables.
TEST(Linear, IsTheSameEverywhere) {
  const TransferCurve table{.table = {0, 1000, 30000, 65535}};
  const LightCurves curves = curves_of(srgb_curve(), {.gamma = 2.2}, table);
  for (const PixelFormat& format : test::all_formats()) {
    const LightTables linear = linear_tables(curves, format.depth);
    const auto look_up = [&](const LightTables& tables, const test::Samples& pixel) {
      test::Samples out = pixel;
      for (std::size_t c = 0; c < 3; ++c)
        out.at(c) = (*tables.at(format.color_channels() == 1 ? 1 : c)).at(pixel.at(c));
      return out;
    };
    const auto alpha = static_cast<std::size_t>(format.channels - 1);
    const Image image = test::random_image({103, 21}, format, 1);
    const PixelFormat deep{format.channels, 16};
    const Image light = test::mapped(image, deep, [&](const test::Samples& pixel) {
      test::Samples out = look_up(linear, pixel);
      if (format.has_alpha()) out.at(alpha) = pixel.at(alpha) * (format.depth == 8 ? 257 : 1);
      return out;
    });
    test::expect_everywhere({make_linear(curves)}, image, light);
    const LightTables encoded = encoded_tables(curves, 16, format.depth);
    const Image noise = test::random_image({103, 21}, deep, 2);
    const Image back = test::mapped(noise, format, [&](const test::Samples& pixel) {
      test::Samples out = look_up(encoded, pixel);
      if (format.has_alpha()) {
        out.at(alpha) =
            format.depth == 16 ? pixel.at(alpha) : (pixel.at(alpha) * 255 + 32767) / 65535;
      }
      return out;
    });
    test::expect_everywhere({make_encoded(curves, format.depth)}, noise, back);
  }
}

TEST(Linear, TakesLightOf8BitsToo) {
  const Image image = test::random_image({33, 5}, {3, 8}, 4);
  const LoweredChain chain = test::lowered(
      {make_linear({}), test::stage_of("--depth 8"), make_encoded({}, 8)}, image.format());
  const LightTable encoded = *encoded_tables({}, 8, 8)[0];
  const LightTable linear = *linear_tables({}, 8)[0];
  const Image expected = test::mapped(image, image.format(), [&](test::Samples pixel) {
    for (std::uint32_t& sample : pixel)
      sample = encoded.at((linear.at(sample) * 255U + 32767) / 65535);
    return pixel;
  });
  EXPECT_TRUE(test::same_pixels(test::filter_on_host(image, chain, {}), expected));
}

TEST(Linear, AndBackChangesNothingIn8Bits) {
  for (const int channels : {1, 2, 3, 4}) {
    const Image image = test::random_image({64, 40}, {channels, 8}, 3);
    Metadata metadata;
    metadata.gamma = 45455;
    for (const Metadata& of : {Metadata(), metadata}) {
      const LoweredChain chain =
          test::lowered({make_linear({}), make_encoded({}, 16)}, image.format(), of);
      EXPECT_TRUE(test::same_pixels(test::filter_on_host(image, chain, {}), image));
    }
  }
}

TEST(Linear, HasThePicturesCurvesAndDepth) {
  Metadata metadata;
  metadata.gamma = 50000;
  const StageChain chain{
      test::stage_of("--depth 16"), make_linear({}), make_blur({}),       make_encoded({}, 8),
      test::stage_of("--depth 8"),  make_linear({}), make_encoded({}, 16)};
  const LoweredChain own = test::lowered(chain, {3, 8}, metadata);
  ASSERT_EQ(own.size(), chain.size());
  PictureShape shape{{9, 9}, {3, 8}};
  std::vector<int> depths;
  for (const LoweredStage& stage : own) {
    shape = output_of(stage, shape);
    depths.push_back(shape.format.depth);
  }
  EXPECT_EQ(depths, (std::vector<int>{16, 16, 16, 16, 8, 16, 8}));
  EXPECT_EQ(own[1].title.label, "gamma 2");
  EXPECT_EQ(own[6].title.label, "gamma 2");
}

TEST(Linear, EndsWithTheChain) {
  const StageChain ended = with_light_ends({make_linear({}), make_blur({})});
  ASSERT_EQ(ended.size(), 3U);
  EXPECT_EQ(ended.back()->name(), "encoded");
  EXPECT_EQ(with_light_ends({make_linear({}), make_encoded({}, 8), make_blur({})}).size(), 3U);
  EXPECT_EQ(with_light_ends({make_blur({})}).size(), 1U);
}

TEST(Linear, OutOfPlaceIsRefused) {
  EXPECT_EQ(test::objection_to([] { return with_light_ends({make_encoded({}, 8)}); }),
            "--encoded: there is no --linear before it to end");
  EXPECT_EQ(test::objection_to([] {
              return with_light_ends({make_linear({}), make_blur({}), make_linear({})});
            }),
            "--linear: the stages here already work in linear light; put --encoded before it");
}

}  // namespace
}  // namespace gpufilter

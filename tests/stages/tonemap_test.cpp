#include "stages/tonemap.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "image/luma.hpp"
#include "stages/lookup.hpp"
#include "support/filtering.hpp"
#include "support/instruction_sets.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

using test::same_pixels;

Histogram ramp() {
  Histogram histogram(256);
  for (std::size_t i = 0; i < histogram.size(); ++i)
    histogram[i] = 1 + i % 7;
  return histogram;
}

TEST(ToneFactors, KeepTheLightestPixelAtItsPlace) {
  for (const ToneCurve curve : {ToneCurve::reinhard, ToneCurve::filmic}) {
    const auto factors = tone_factors({.curve = curve}, ramp());
    ASSERT_EQ(factors.size(), 256U);
    EXPECT_FLOAT_EQ(factors[255], 1.0F);
  }
}

TEST(ToneFactors, GiveACurveThatNeverFalls) {
  for (const ToneCurve curve : {ToneCurve::reinhard, ToneCurve::filmic}) {
    for (const double key : {0.01, 0.18, 1.0}) {
      const auto factors = tone_factors({curve, key}, ramp());
      for (std::size_t i = 1; i < factors.size(); ++i) {
        EXPECT_GT(factors[i], 0.0F);
        EXPECT_GE(static_cast<float>(i) * factors[i], static_cast<float>(i - 1) * factors[i - 1])
            << i;
      }
    }
  }
}

// Equation 4 of the paper, worked out for a picture of two brightnesses by hand: Lmean is their
// geometric mean (with 1e-4 added to each).
TEST(ToneFactors, FollowThePublishedReinhardOperator) {
  Histogram histogram(256);
  histogram[51] = 1;   // L = 0.2
  histogram[204] = 1;  // L = 0.8
  const double mean = std::sqrt(0.2001 * 0.8001);
  const double x = 0.18 * 0.2 / mean;
  const double white = 0.18 * 0.8 / mean;
  const auto display = [white](double l) { return l * (1 + l / (white * white)) / (1 + l); };
  const auto factors = tone_factors({}, histogram);
  EXPECT_NEAR(factors[51], display(x) / display(white) / 0.2, 1e-6);
  EXPECT_NEAR(factors[204], 1 / 0.8, 1e-6);
}

TEST(ToneFactors, OfABlackPictureChangeNothing) {
  Histogram histogram(65536);
  histogram[0] = 5;
  for (const float factor : tone_factors({}, histogram))
    EXPECT_EQ(factor, 1.0F);
}

// The definition, for one sample.
std::uint32_t scaled(std::uint32_t sample, float factor, std::uint32_t max) {
  const float product = static_cast<float>(sample) * factor;
  const float whole = std::floor(product);
  const float rest = product - whole;
  const bool odd = std::fmod(whole, 2.0F) != 0;
  const float rounded = rest > 0.5F || (rest == 0.5F && odd) ? whole + 1 : whole;
  return rounded >= static_cast<float>(max) ? max : static_cast<std::uint32_t>(rounded);
}

TEST(LumaScaling, IsTheSameEverywhere) {
  for (const PixelFormat format : {PixelFormat{1, 8}, {2, 8}, {3, 8}, {4, 8}, {1, 16}, {4, 16}}) {
    std::vector<float> factors(format.max_sample() + 1);
    for (std::size_t i = 0; i < factors.size(); ++i) {
      factors[i] = i % 5 == 0 ? 0.5F : static_cast<float>(i % 977) / 300.0F;
    }
    const StageChain chain{
        make_luma_scaling({"test", "table", [&](const PixelFormat&) { return factors; }})};
    const Image image = test::random_image({257, 61}, format, 21);
    Image expected = test::copy_of(image);
    for (int y = 0; y < 61; ++y) {
      for (int x = 0; x < 257; ++x) {
        const auto at = [&](int c) { return test::sample_at(image, x, y, c); };
        const std::uint32_t index =
            format.color_channels() == 3 ? luma(at(0), at(1), at(2)) : at(0);
        for (int c = 0; c < format.color_channels(); ++c) {
          test::set_sample(expected, x, y, c, scaled(at(c), factors[index], format.max_sample()));
        }
      }
    }
    test::with_each_instruction_set([&] {
      const Image result = test::filter_on_host(image, chain, {});
      EXPECT_TRUE(same_pixels(result, expected)) << to_string(format);
      EXPECT_TRUE(test::padding_holds(result.rows()));
    });
    for (Session* session : test::kernel_sessions()) {
      for (const int rows : {1, 17, 1000}) {
        EXPECT_TRUE(same_pixels(test::filter_on_device(*session, image, chain, {.band_rows = rows}),
                                expected))
            << session->device().name << ", " << to_string(format);
      }
    }
  }
}

TEST(Luma, OfGreyIsTheGreyItselfAndNeverLeavesTheRange) {
  for (std::uint32_t v = 0; v <= 65535; ++v)
    ASSERT_EQ(luma(v, v, v), v);
  EXPECT_EQ(luma(255, 0, 0), 54U);
  EXPECT_EQ(luma(0, 255, 0), 182U);
  EXPECT_EQ(luma(0, 0, 255), 18U);
}

TEST(ToneMapOption, RefusesWhatMakesNoSense) {
  const StageKind kind = tonemap_stage_kind();
  for (const char* value : {"", "hable", "reinhard=", "reinhard=0", "reinhard=1.5", "filmic=x",
                            "filmic=-1", "reinhard=nan"}) {
    EXPECT_THROW(static_cast<void>(kind.make(value, {})), UsageError) << value;
  }
  for (const char* value : {"reinhard", "filmic", "reinhard=0.36", "filmic=1"}) {
    EXPECT_EQ(kind.make(value, {})->needs(), Quantity::luma_histogram) << value;
  }
}

}  // namespace
}  // namespace gpufilter

#include "stages/point/tonemap.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "image/sample_arithmetic.hpp"
#include "stages/point/lookup.hpp"
#include "support/filtering.hpp"
#include "support/instruction_sets.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

Histogram ramp() {
  Histogram histogram(256);
  for (std::size_t i = 0; i < histogram.size(); ++i)
    histogram[i] = 1 + i % 7;
  return histogram;
}

constexpr std::array curves{ToneCurve::reinhard, ToneCurve::filmic};

TEST(ToneFactors, MakeTheLightestPixelWhite) {
  for (const ToneCurve curve : curves)
    EXPECT_FLOAT_EQ(tone_factors({.curve = curve}, ramp())[255], 1.0F);
  // Reinhard's white point follows the key.
  for (const double key : {0.001, 0.01, 0.72, 1.0})
    EXPECT_FLOAT_EQ(tone_factors({ToneCurve::reinhard, key}, ramp())[255], 1.0F) << key;
  Histogram dim(256);
  dim[3] = 7;
  dim[100] = 2;
  for (const ToneCurve curve : curves)
    EXPECT_FLOAT_EQ(tone_factors({.curve = curve}, dim)[100], 2.55F);
}

TEST(ToneFactors, GiveACurveThatNeverFalls) {
  for (const ToneCurve curve : curves) {
    for (const double key : {0.001, 0.01, 0.18, 1.0}) {
      const auto factors = tone_factors({curve, key}, ramp());
      for (std::size_t i = 1; i < factors.size(); ++i) {
        EXPECT_GT(factors[i], 0.0F);
        EXPECT_GT(static_cast<float>(i) * factors[i], static_cast<float>(i - 1) * factors[i - 1])
            << i;
      }
    }
  }
}

TEST(ToneFactors, RiseWithTheKey) {
  for (const ToneCurve curve : curves) {
    std::vector<float> before(256, 0.0F);
    for (const double key : {0.001, 0.01, 0.09, 0.18, 0.36, 1.0}) {
      const auto factors = tone_factors({curve, key}, ramp());
      for (std::size_t i = 0; i < 255; ++i)
        EXPECT_GT(factors[i], before[i]) << i << ", key " << key;
      before = factors;
    }
  }
}

TEST(ToneFactors, OfFilmicAreAnExposure) {
  // A low key darkens every pixel, to about its ratio to middle grey.
  for (const float factor : tone_factors({ToneCurve::filmic, 0.01}, ramp()))
    EXPECT_LT(factor, 0.2F);
  // A high one clips the lightest.
  EXPECT_GT(tone_factors({ToneCurve::filmic, 0.36}, ramp())[255], 1.1F);
}

// Worked out by hand for a picture of two brightnesses: the log-average is their geometric mean
// (with 1e-4 added to each).
TEST(ToneFactors, FollowThePublishedCurves) {
  Histogram histogram(256);
  histogram[51] = 1;   // Lw = 0.2
  histogram[204] = 1;  // Lw = 0.8
  const double mean = std::sqrt(0.2001 * 0.8001);
  const double white = 0.18 * 0.8 / mean;
  for (const double key : {0.09, 0.18, 0.5}) {
    const double dark = key * 0.2 / mean;
    const double light = key * 0.8 / mean;
    const auto reinhard = tone_factors({ToneCurve::reinhard, key}, histogram);
    EXPECT_NEAR(reinhard[51], dark * (1 + dark / (light * light)) / (1 + dark) / 0.2, 1e-6);
    EXPECT_NEAR(reinhard[204], 1 / 0.8, 1e-6);
    const auto h = [](double x) {
      return (x * (0.15 * x + 0.10 * 0.50) + 0.20 * 0.02) / (x * (0.15 * x + 0.50) + 0.20 * 0.30) -
             0.02 / 0.30;
    };
    const auto filmic = tone_factors({ToneCurve::filmic, key}, histogram);
    EXPECT_NEAR(filmic[51], h(2 * dark) / h(2 * white) / 0.2, 1e-6);
    EXPECT_NEAR(filmic[204], h(2 * light) / h(2 * white) / 0.8, 1e-6);
  }
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
    for (const auto [x, y] : test::each_pixel({257, 61})) {
      const auto at = [&](int c) { return test::sample_at(image, x, y, c); };
      const std::uint32_t index =
          format.color_channels() == 3 ? luma_bt709(at(0), at(1), at(2)) : at(0);
      for (int c = 0; c < format.color_channels(); ++c) {
        test::set_sample(expected, x, y, c, scaled(at(c), factors[index], format.max_sample()));
      }
    }
    test::check_on_host(image, chain, expected, {1000}, test::RowEnds::hold);
    for (Session* session : test::kernel_sessions()) {
      test::check_on_device(*session, image, chain, expected, {1, 17, 1000});
    }
  }
}

// For each pixel, as in the paper: the ratio of displayed luminance to the pixel's own.
class PaperOperator {
 public:
  PaperOperator(const Image& image, ToneCurve curve, double key)
      : max_(image.format().max_sample()), curve_(curve) {
    double sum = 0;
    double lightest = 0;
    double pixels = 0;
    for (int y = 0; y < image.size().height; ++y) {
      for (int x = 0; x < image.width(); ++x, ++pixels) {
        const double luminance = index(image, x, y) / max_;
        sum += std::log(1e-4 + luminance);
        lightest = std::max(lightest, luminance);
      }
    }
    const double average = std::exp(sum / pixels);
    scale_ = key / average;
    white_ = (curve == ToneCurve::reinhard ? key : 0.18) / average * lightest;
  }

  // The new sample of a pixel, before rounding.
  [[nodiscard]] double operator()(const Image& image, int x, int y, int channel) const {
    const double luminance = std::max(1.0, index(image, x, y)) / max_;
    const double exposed = scale_ * luminance;
    const double display = curve_ == ToneCurve::reinhard
                               ? exposed * (1 + exposed / (white_ * white_)) / (1 + exposed)
                               : h(2 * exposed) / h(2 * white_);
    return std::min(max_, test::sample_at(image, x, y, channel) * display / luminance);
  }

 private:
  static double index(const Image& image, int x, int y) {
    const auto at = [&](int c) { return test::sample_at(image, x, y, c); };
    return image.format().color_channels() == 3 ? luma_bt709(at(0), at(1), at(2)) : at(0);
  }
  static double h(double x) {
    return (x * (0.15 * x + 0.05) + 0.004) / (x * (0.15 * x + 0.5) + 0.06) - 0.02 / 0.30;
  }

  double max_;
  ToneCurve curve_;
  double scale_ = 0;
  double white_ = 0;
};

// Whether `result` is the rounded result of the paper's operator for `image`. The factor's own
// rounding to float may move a value across the middle between two samples.
void expect_as_published(const Image& image, const Image& result, const PaperOperator& paper) {
  const PixelFormat& format = image.format();
  const double slack = format.depth == 8 ? 0.5001 : 0.51;
  for (const auto [x, y] : test::each_pixel(image)) {
    for (int c = 0; c < format.color_channels(); ++c) {
      ASSERT_NEAR(test::sample_at(result, x, y, c), paper(image, x, y, c), slack)
          << x << ", " << y << ", channel " << c;
    }
    if (!format.has_alpha()) continue;
    const int alpha = format.channels - 1;
    ASSERT_EQ(test::sample_at(result, x, y, alpha), test::sample_at(image, x, y, alpha));
  }
}

TEST(ToneMap, IsThePublishedOperatorEverywhere) {
  for (const PixelFormat format : {PixelFormat{1, 8}, {3, 8}, {4, 8}, {2, 16}, {3, 16}}) {
    const Image image = test::random_image({131, 37}, format, 5);
    PictureStatistics histogram = no_statistics(format, Quantity::luma_histogram);
    add_pixels(histogram, image.rows());
    for (const ToneCurve curve : curves) {
      for (const double key : {0.02, 0.18, 0.9}) {
        SCOPED_TRACE(::testing::Message() << to_string(format) << ", key " << key);
        LoweredChain chain = test::lowered({make_tonemap({curve, key})}, format);
        meet_demand(chain, 0, histogram);
        const Image result = test::filter_on_host(image, chain, {});
        expect_as_published(image, result, {image, curve, key});
        test::with_each_instruction_set([&] {
          EXPECT_TRUE(test::same_pixels(test::filter_on_host(image, chain, {}), result));
        });
        for (const auto& session : test::all_sessions()) {
          EXPECT_TRUE(test::same_pixels(
              test::filter_on_device(*session, image, chain, {.band_rows = 11}), result));
        }
      }
    }
  }
}

TEST(ToneMapOption, RefusesWhatMakesNoSense) {
  const StageKind kind = tonemap_stage_kind();
  for (const char* value :
       {"", "hable", "reinhard=", "reinhard=0", "reinhard=1.5", "filmic=x", "filmic=-1",
        "reinhard=nan", "filmic=0.0009", "filmic=1e-400", "reinhard=0x1p-1", "reinhard= .5"}) {
    EXPECT_THROW(static_cast<void>(kind.make(value, {})), UsageError) << value;
  }
  for (const char* value : {"reinhard", "filmic", "reinhard=0.36", "filmic=1", "filmic=+.5",
                            "reinhard=0.001", "filmic=0.33333333333333333333333333333333333333"}) {
    const auto demand = kind.make(value, {})->lower({}).demand;
    EXPECT_EQ(demand.value().statistics, Quantity::luma_histogram) << value;
  }
}

}  // namespace
}  // namespace gpufilter

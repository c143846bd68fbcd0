#include "image/sample_arithmetic.hpp"
#include "stages/point/lookup.hpp"
#include "support/instruction_sets.hpp"
#include "support/single_pixels.hpp"

namespace gpufilter::test {
namespace {

Histogram histogram_of(std::size_t size, std::initializer_list<std::pair<int, int>> counts) {
  Histogram histogram(size);
  for (const auto& [value, count] : counts)
    histogram[static_cast<std::size_t>(value)] += count;
  return histogram;
}

std::pair<std::uint32_t, std::uint32_t> bounds(const std::vector<Histogram>& colors, double clip) {
  const LevelBounds found = level_bounds(colors, clip);
  return {found.low, found.high};
}

TEST(LevelBounds, AreMinimumAndMaximumOverAllColoursAndLeaveOutTheShareToClip) {
  EXPECT_EQ(bounds({histogram_of(256, {{20, 1}, {200, 5}})}, 0), std::pair(20U, 200U));
  EXPECT_EQ(bounds({histogram_of(256, {{20, 1}}), histogram_of(256, {{7, 1}}),
                    histogram_of(256, {{255, 1}})},
                   0),
            std::pair(7U, 255U));
  // 100 samples: one percent is one of them, so the second from either end decides.
  const Histogram histogram = histogram_of(256, {{0, 1}, {10, 49}, {240, 49}, {255, 1}});
  EXPECT_EQ(bounds({histogram}, 0), std::pair(0U, 255U));
  EXPECT_EQ(bounds({histogram}, 0.99), std::pair(0U, 255U));
  EXPECT_EQ(bounds({histogram}, 1), std::pair(10U, 240U));
  EXPECT_EQ(bounds({histogram}, 49.9), std::pair(10U, 240U));
}

TEST(LevelBounds, OfAConstantPictureAreOneValue) {
  EXPECT_EQ(bounds({histogram_of(256, {{77, 1000}})}, 10), std::pair(77U, 77U));
  EXPECT_EQ(bounds({Histogram(256)}, 0), std::pair(0U, 0U));
}

// round_half_to_even((v - low) * max / (high - low)) in integers, so without any earlier rounding.
std::uint32_t stretched(std::int64_t v, std::int64_t low, std::int64_t high, std::int64_t max) {
  const std::int64_t numerator = (v - low) * max;
  const std::int64_t denominator = high - low;
  if (numerator <= 0) return 0;
  const std::int64_t whole = numerator / denominator;
  const std::int64_t twice_rest = 2 * (numerator % denominator);
  const bool up = twice_rest > denominator || (twice_rest == denominator && whole % 2 == 1);
  return static_cast<std::uint32_t>(std::min(whole + (up ? 1 : 0), max));
}

TEST(Levels, StretchEverySampleAndLeaveAlphaAloneAndInPercentAreOfTheMaximum) {
  for (const PixelFormat format : {PixelFormat{1, 8}, {2, 8}, {3, 8}, {4, 8}, {3, 16}, {4, 16}}) {
    const auto max = static_cast<std::int64_t>(format.max_sample());
    const Image image = random_image({257, 129}, format, 11);
    const std::int64_t low = max / 10;
    const std::int64_t high = max - max / 7;
    const StageChain chain{make_levels({static_cast<double>(low)}, {static_cast<double>(high)})};
    Image expected = copy_of(image);
    for (const auto [x, y, c] : each_sample({257, 129}, format.color_channels()))
      set_sample(expected, x, y, c, stretched(sample_at(image, x, y, c), low, high, max));
    check_on_host(image, chain, expected, {1000}, RowEnds::hold);
  }
  const Image image = random_image({31, 33}, {3, 16}, 12);
  const StageChain percent{make_levels({20, true}, {80, true})};
  const StageChain samples{make_levels({13107}, {52428})};
  EXPECT_TRUE(same_pixels(filter_on_host(image, percent, {}), filter_on_host(image, samples, {})));
}

TEST(AutoLevels, TakeTheirBoundsFromTheStatistics) {
  const auto stage = make_auto_levels(0);
  LoweredChain met = lowered({stage}, {4, 8});
  ASSERT_EQ(met.at(0).demand.value().statistics, Quantity::channel_histograms);
  Histograms histograms{{histogram_of(256, {{50, 3}}), histogram_of(256, {{150, 3}}),
                         histogram_of(256, {{100, 3}}), histogram_of(256, {{0, 2}, {255, 1}})}};
  const Image image = random_image({40, 40}, {4, 8}, 13);
  meet_demand(met, 0, histograms);
  EXPECT_FALSE(met.front().demand);
  // Alpha's extremes count for nothing.
  const StageChain explicitly{make_levels({50}, {150})};
  EXPECT_TRUE(same_pixels(filter_on_host(image, met, {}), filter_on_host(image, explicitly, {})));
}

TEST(AutoLevels, LeaveAConstantPictureAsItIs) {
  LoweredChain chain = lowered({make_auto_levels(5)}, {1, 16});
  meet_demand(chain, 0, Histograms{{histogram_of(65536, {{4711, 100}})}});
  const Image image = random_image({31, 33}, {1, 16}, 14);
  EXPECT_TRUE(same_pixels(filter_on_host(image, chain, {}), image));
}

TEST(AutoLevels, AreNeverRunUnresolved) {
  const Image image = random_image({3, 3}, {1, 8}, 15);
  EXPECT_THROW(static_cast<void>(filter_on_host(image, {make_auto_levels(0)}, {})),
               std::logic_error);
}

TEST(LevelsOption, RefusesWhatMakesNoSense) {
  expect_values(
      levels_stage_kind(),
      {"auto", "auto=0", "auto=0.5", "auto=2%", "0,255", "-10,300", "10%,90%", "16.5,235"},
      {"", "automatic", "auto=", "auto=x", "auto=-1", "auto=50", "auto=nan", "1", "1,", ",1", "2,1",
       "1,1", "1,2,3", "1%,2", "inf,3", "0x10,20", "1e999,2"});
}

Histogram ramp() {
  Histogram histogram(256);
  for (std::size_t i = 0; i < histogram.size(); ++i)
    histogram[i] = 1 + i % 7;
  return histogram;
}

constexpr std::array curves{ToneCurve::reinhard, ToneCurve::filmic};

TEST(ToneFactors, MakeTheLightestPixelWhiteAndGiveACurveThatNeverFalls) {
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
  for (const auto& [curve, key] : each_of(curves, std::vector<double>{0.001, 0.01, 0.18, 1.0})) {
    const auto factors = tone_factors({curve, key}, ramp());
    for (std::size_t i = 1; i < factors.size(); ++i) {
      EXPECT_GT(factors[i], 0.0F);
      EXPECT_GT(static_cast<float>(i) * factors[i], static_cast<float>(i - 1) * factors[i - 1])
          << i;
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
    for (std::size_t i = 0; i < factors.size(); ++i)
      factors[i] = i % 5 == 0 ? 0.5F : static_cast<float>(i % 977) / 300.0F;
    const StageChain chain{
        make_luma_scaling({"test", "table", [&](const PixelFormat&) { return factors; }})};
    const Image image = random_image({257, 61}, format, 21);
    Image expected = copy_of(image);
    for (const auto [x, y] : each_pixel({257, 61})) {
      const auto at = [&](int c) { return sample_at(image, x, y, c); };
      const std::uint32_t index =
          format.color_channels() == 3 ? luma_bt709(at(0), at(1), at(2)) : at(0);
      for (int c = 0; c < format.color_channels(); ++c)
        set_sample(expected, x, y, c, scaled(at(c), factors[index], format.max_sample()));
    }
    expect_everywhere(chain, image, expected);
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
    return std::min(max_, sample_at(image, x, y, channel) * display / luminance);
  }

 private:
  static double index(const Image& image, int x, int y) {
    const auto at = [&](int c) { return sample_at(image, x, y, c); };
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
  for (const auto [x, y] : each_pixel(image)) {
    for (int c = 0; c < format.color_channels(); ++c) {
      ASSERT_NEAR(sample_at(result, x, y, c), paper(image, x, y, c), slack)
          << x << ", " << y << ", channel " << c;
    }
    if (!format.has_alpha()) continue;
    const int alpha = format.channels - 1;
    ASSERT_EQ(sample_at(result, x, y, alpha), sample_at(image, x, y, alpha));
  }
}

TEST(ToneMap, IsThePublishedOperatorEverywhere) {
  for (const PixelFormat format : {PixelFormat{1, 8}, {3, 8}, {4, 8}, {2, 16}, {3, 16}}) {
    const Image image = random_image({131, 37}, format, 5);
    PictureStatistics histogram = no_statistics(format, Quantity::luma_histogram);
    add_pixels(histogram, image.rows());
    for (const auto& [curve, key] : each_of(curves, std::vector<double>{0.02, 0.18, 0.9})) {
      SCOPED_TRACE(::testing::Message() << to_string(format) << ", key " << key);
      LoweredChain chain = lowered({make_tonemap({curve, key})}, format);
      meet_demand(chain, 0, histogram);
      const Image result = filter_on_host(image, chain, {});
      expect_as_published(image, result, {image, curve, key});
      with_each_instruction_set(
          [&] { EXPECT_TRUE(same_pixels(filter_on_host(image, chain, {}), result)); });
      for (const auto& session : all_sessions()) {
        EXPECT_TRUE(
            same_pixels(filter_on_device(*session, image, chain, {.band_rows = 11}), result));
      }
    }
  }
}

TEST(ToneMapOption, RefusesWhatMakesNoSense) {
  const StageKind kind = tonemap_stage_kind();
  expect_values(
      kind, {},
      {"", "hable", "reinhard=", "reinhard=0", "reinhard=1.5", "filmic=x", "filmic=-1",
       "reinhard=nan", "filmic=0.0009", "filmic=1e-400", "reinhard=0x1p-1", "reinhard= .5"});
  for (const char* value : {"reinhard", "filmic", "reinhard=0.36", "filmic=1", "filmic=+.5",
                            "reinhard=0.001", "filmic=0.33333333333333333333333333333333333333"}) {
    const auto demand = kind.make(value, {})->lower({}).demand;
    EXPECT_EQ(demand.value().statistics, Quantity::luma_histogram) << value;
  }
}

}  // namespace
}  // namespace gpufilter::test

// --exposure, --white-balance, --contrast, --brightness, --curve, --equalize, --binarize and
// --posterize against second implementations.

#include "image/sample_arithmetic.hpp"
#include "stages/colour/linear.hpp"
#include "stages/point/lookup.hpp"
#include "stages/point/tone_curve.hpp"
#include "support/instruction_sets.hpp"
#include "support/single_pixels.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter::test {
namespace {

using Mapping = std::function<std::uint32_t(std::uint32_t sample, std::uint32_t max)>;

// The chain makes mapping(sample) of each colour sample, for all formats.
void expect_mapped_colors(const StageChain& chain, const Mapping& mapping) {
  for (const PixelFormat& format : all_formats()) {
    std::vector<std::uint32_t> table;
    for (std::uint32_t sample = 0; sample <= format.max_sample(); ++sample)
      table.push_back(mapping(sample, format.max_sample()));
    const Image image = random_image({517, 33}, format, 1);
    const Image expected = mapped(image, format, [&](Samples pixel) {
      for (int c = 0; c < format.color_channels(); ++c) {
        auto& sample = pixel.at(static_cast<std::size_t>(c));
        sample = table.at(sample);
      }
      return pixel;
    });
    expect_everywhere(chain, image, expected);
  }
}

long double srgb_light(long double sample) {
  return sample <= 0.04045L ? sample / 12.92L : std::pow((sample + 0.055L) / 1.055L, 2.4L);
}

long double srgb_sample(long double light) {
  return light <= srgb_light(0.04045L) ? light * 12.92L
                                       : 1.055L * std::pow(light, 1 / 2.4L) - 0.055L;
}

// The nearest sample; half way between two, as in sRGB's straight part, the lower one.
TEST(Exposure, MultipliesTheLightOfEverySample) {
  for (const double stops : {-3.5, -1.0, 0.3, 1.0, 2.0}) {
    expect_mapped_colors({stage_of(formatted("--exposure {}", stops))}, [&](std::uint32_t sample,
                                                                            std::uint32_t max) {
      const long double light = std::exp2(static_cast<long double>(stops)) *
                                srgb_light(static_cast<long double>(sample) / max);
      const long double exact = std::min(srgb_sample(light), 1.0L) * max;
      return static_cast<std::uint32_t>(std::max(std::ceil(exact - 0.5L - 1e-8L), 0.0L));
    });
  }
}

// Red, green and blue of a pixel, each with its gain.
Image balanced(const Image& image, const std::array<long double, 3>& gains) {
  const std::uint32_t max = image.format().max_sample();
  std::array<std::vector<std::uint32_t>, 3> tables;
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::uint32_t sample = 0; sample <= max; ++sample) {
      const long double light = gains.at(c) * srgb_light(static_cast<long double>(sample) / max);
      const long double exact = std::min(srgb_sample(light), 1.0L) * max;
      tables.at(c).push_back(
          static_cast<std::uint32_t>(std::max(std::ceil(exact - 0.5L - 1e-8L), 0.0L)));
    }
  }
  return mapped(image, image.format(), [&](Samples pixel) {
    for (std::size_t c = 0; c < 3; ++c)
      pixel.at(c) = tables.at(c).at(pixel.at(c));
    return pixel;
  });
}

const std::vector<PixelFormat> formats_in_color{{3, 8}, {4, 8}, {3, 16}, {4, 16}};

TEST(WhiteBalance, MultipliesTheLightOfEachColor) {
  for (const PixelFormat& format : formats_in_color) {
    for (const int width : {1, 20, 21, 22, 64, 517}) {
      const Image image = random_image({width, 13}, format, 1);
      const auto stage = stage_of("--white-balance 1.25,1,0.5");
      expect_everywhere({stage}, image, balanced(image, {1.25L, 1, 0.5L}));
    }
  }
}

// A grey pixel's luminance stays.
std::array<long double, 3> scaled_gains(std::array<long double, 3> gains) {
  const long double luminance = 0.2126L * gains[0] + 0.7152L * gains[1] + 0.0722L * gains[2];
  for (long double& gain : gains)
    gain /= luminance;
  return gains;
}

TEST(WhiteBalance, MakesTheMeansOfThePictureEqual) {
  for (const PixelFormat& format : formats_in_color) {
    Image image = random_image({71, 33}, format, 2);
    // Unequal colours: red is brighter, and blue darker.
    for (const auto [x, y] : each_pixel(image)) {
      set_sample(image, x, y, 0, format.max_sample() - sample_at(image, x, y, 0) / 3);
      set_sample(image, x, y, 2, sample_at(image, x, y, 2) / 4);
    }
    for (const auto& [value, power] : {std::pair{"gray-world", 1}, std::pair{"auto", 6}}) {
      std::array<long double, 3> gains{};
      for (std::size_t c = 0; c < 3; ++c) {
        long double sum = 0;
        for (const auto [x, y] : each_pixel(image)) {
          const auto sample = static_cast<long double>(sample_at(image, x, y, static_cast<int>(c)));
          sum += std::pow(srgb_light(sample / format.max_sample()), power);
        }
        gains.at(c) = std::pow(71 * 33 / sum, 1.0L / power);
      }
      EXPECT_TRUE(
          same_pixels(by_statistics(image, stage_of(formatted("--white-balance {}", value))),
                      balanced(image, scaled_gains(gains))))
          << value << ' ' << to_string(format);
    }
  }
}

// Planck's law, seen by the CIE 1931 observer as C. Wyman, P. Sloan and P. Shirley approximate it
// (Simple Analytic Approximations to the CIE XYZ Color Matching Functions, 2013), in linear sRGB.
std::array<long double, 3> planckian(long double kelvin) {
  const auto bell = [](long double at, long double middle, long double below, long double above) {
    const long double distance = (at - middle) * (at < middle ? below : above);
    return std::exp(-distance * distance / 2);
  };
  long double x = 0;
  long double y = 0;
  long double z = 0;
  for (long double nm = 380; nm <= 780; ++nm) {
    const long double power = std::pow(nm, -5) / (std::exp(1.438777e7L / (nm * kelvin)) - 1);
    x += power *
         (1.056L * bell(nm, 599.8L, 0.0264L, 0.0323L) + 0.362L * bell(nm, 442, 0.0624L, 0.0374L) -
          0.065L * bell(nm, 501.1L, 0.049L, 0.0382L));
    y += power * (0.821L * bell(nm, 568.8L, 0.0213L, 0.0247L) +
                  0.286L * bell(nm, 530.9L, 0.0613L, 0.0322L));
    z += power *
         (1.217L * bell(nm, 437, 0.0845L, 0.0278L) + 0.681L * bell(nm, 459, 0.0385L, 0.0725L));
  }
  return {(3.2406L * x - 1.5372L * y - 0.4986L * z) / y,
          (-0.9689L * x + 1.8758L * y + 0.0415L * z) / y,
          (0.0557L * x - 0.2040L * y + 1.0570L * z) / y};
}

TEST(WhiteBalance, FollowsPlanckianLight) {
  Image image({1, 1}, {3, 16});
  for (const int c : {0, 1, 2})
    set_sample(image, 0, 0, c, 20000);
  for (const int kelvin : {2700, 4000, 5500, 9000, 20000}) {
    const auto white = planckian(6504);
    const auto light = planckian(kelvin);
    const auto gains =
        scaled_gains({white[0] / light[0], white[1] / light[1], white[2] / light[2]});
    const Image result =
        filter_on_host(image, {stage_of(formatted("--white-balance {}", kelvin))}, {});
    for (const int c : {0, 1, 2}) {
      const long double gain =
          srgb_light(sample_at(result, 0, 0, c) / 65535.0L) / srgb_light(20000 / 65535.0L);
      EXPECT_NEAR(static_cast<double>(gain / gains.at(static_cast<std::size_t>(c))), 1, 0.06)
          << kelvin << ' ' << c;
    }
  }
}

TEST(WhiteBalance, ChangesNoGreyPictureAndNothingIn6504Kelvins) {
  const Image grey = random_image({61, 31}, {2, 8}, 3);
  for (const std::string value : {"auto", "3000", "2,1,1"}) {
    const auto stage = stage_of("--white-balance " + value);
    EXPECT_TRUE(lowered({stage}, grey.format()).empty());
  }
  const Image image = random_image({61, 31}, {3, 16}, 4);
  EXPECT_TRUE(same_pixels(filter_on_host(image, {stage_of("--white-balance 6504")}, {}), image));
}

TEST(WhiteBalance, BecomesOneTableWithItsNeighbours) {
  for (const PixelFormat& format : formats_in_color) {
    const Image image = random_image({67, 9}, format, 5);
    const StageChain chain =
        stages_of("--gamma 1.3 --white-balance 4500 --invert --white-balance 0.7,1,2");
    expect_everywhere(chain, image, stage_by_stage(image, chain));
  }
}

TEST(WhiteBalanceOption, RefusesWhatIsNoLight) {
  expect_values(white_balance_stage_kind(),
                {"auto", "gray-world", "2000", "25000K", "6504", "1,1,1", "0.5,100,1e-3"},
                {"", "grey", "1999", "25001", "5000 K", "1,1", "1,1,1,1", "0,1,1", "1,-1,1",
                 "101,1,1", "a,b,c", "nan"});
}

TEST(Exposure, OfZeroChangesNothing) {
  const Image image = random_image({61, 31}, {4, 16}, 2);
  EXPECT_TRUE(same_pixels(filter_on_host(image, {stage_of("--exposure 0")}, {}), image));
}

TEST(Exposure, IsRefusedInLinearLight) {
  EXPECT_EQ(objection_to([] {
              return with_light_ends({make_linear({}), stage_of("--exposure 1")});
            }),
            "--exposure: the stages here work in linear light; put it before --linear or after "
            "--encoded");
}

// Without rounding errors: N is a whole number of tenths.
TEST(Contrast, SpreadsTonesAboutTheMiddleAsCssDoes) {
  for (const std::int64_t tenths : {1, 4, 10, 12, 25, 100}) {
    const std::string value = formatted("--contrast {}", static_cast<double>(tenths) / 10);
    for (const PixelFormat& format : all_formats()) {
      const std::int64_t max = format.max_sample();
      const Image image = random_image({517, 9}, format, 1);
      const Image result = filter_on_host(image, {stage_of(value)}, {});
      for (const auto [x, y, c] : each_sample({517, 9}, format.color_channels())) {
        // Twenty times the result; halves may fall to either side.
        const std::int64_t exact =
            10 * max + tenths * (2 * std::int64_t{sample_at(image, x, y, c)} - max);
        const std::int64_t limited = std::clamp<std::int64_t>(exact, 0, 20 * max);
        const std::int64_t distance =
            std::abs(20 * std::int64_t{sample_at(result, x, y, c)} - limited);
        ASSERT_LE(distance, 10) << value << ' ' << sample_at(image, x, y, c);
      }
      expect_everywhere({stage_of(value)}, image, result);
    }
  }
  expect_values(contrast_stage_kind(), {"0.1", "1", "120%", "10"}, {"", "0", "20", "-1", "11"});
}

TEST(Brightness, MultipliesTonesAsCssDoes) {
  for (const std::int64_t hundredths : {10, 50, 100, 125, 300, 1000}) {
    const std::string value = formatted("--brightness {}", static_cast<double>(hundredths) / 100);
    for (const PixelFormat& format : all_formats()) {
      const Image image = random_image({517, 9}, format, 1);
      const Image result = filter_on_host(image, {stage_of(value)}, {});
      for (const auto [x, y, c] : each_sample({517, 9}, format.color_channels())) {
        // A hundred times the result; halves may fall to either side.
        const std::int64_t exact = std::min<std::int64_t>(hundredths * sample_at(image, x, y, c),
                                                          std::int64_t{100} * format.max_sample());
        const std::int64_t distance =
            std::abs(std::int64_t{100} * sample_at(result, x, y, c) - exact);
        ASSERT_LE(distance, 50) << value << ' ' << sample_at(image, x, y, c);
      }
      expect_everywhere({stage_of(value)}, image, result);
    }
  }
  expect_values(brightness_stage_kind(), {"0.1", "110%", "10"}, {"", "0", "20", "-1"});
}

// SciPy's PchipInterpolator in long double, by Hermite's basis.
class Pchip {
 public:
  Pchip(std::vector<long double> x, std::vector<long double> y)
      : x_(std::move(x)), y_(std::move(y)), d_(x_.size()) {
    const std::size_t n = x_.size();
    std::vector<long double> h;
    std::vector<long double> m;
    for (std::size_t k = 0; k + 1 < n; ++k) {
      h.push_back(x_[k + 1] - x_[k]);
      m.push_back((y_[k + 1] - y_[k]) / h[k]);
    }
    if (n == 2) {
      d_ = {m[0], m[0]};
      return;
    }
    for (std::size_t k = 1; k + 1 < n; ++k) {
      const long double w1 = 2 * h[k] + h[k - 1];
      const long double w2 = h[k] + 2 * h[k - 1];
      if (m[k - 1] * m[k] > 0) d_[k] = 1 / ((w1 / m[k - 1] + w2 / m[k]) / (w1 + w2));
    }
    d_[0] = end(h[0], h[1], m[0], m[1]);
    d_[n - 1] = end(h[n - 2], h[n - 3], m[n - 2], m[n - 3]);
  }

  long double operator()(long double x) const {
    if (x <= x_.front()) return y_.front();
    if (x >= x_.back()) return y_.back();
    const auto k = static_cast<std::size_t>(std::ranges::upper_bound(x_, x) - x_.begin() - 1);
    const long double h = x_[k + 1] - x_[k];
    const long double t = (x - x_[k]) / h;
    return (1 + 2 * t) * (1 - t) * (1 - t) * y_[k] + t * (1 - t) * (1 - t) * h * d_[k] +
           t * t * (3 - 2 * t) * y_[k + 1] + t * t * (t - 1) * h * d_[k + 1];
  }

 private:
  static long double end(long double h0, long double h1, long double m0, long double m1) {
    const long double d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1);
    if (d * m0 <= 0) return 0;
    return m0 * m1 < 0 && std::abs(d) > 3 * std::abs(m0) ? 3 * m0 : d;
  }

  std::vector<long double> x_;
  std::vector<long double> y_;
  std::vector<long double> d_;
};

TEST(Curve, IsThePiecewiseCubicThroughItsPoints) {
  struct Case {
    const char* points;
    Pchip curve;
  };
  const std::vector<Case> cases{
      {"0,0 1,1", {{0, 1}, {0, 1}}},
      {"0.125,1 0.875,0.03", {{0.125L, 0.875L}, {1, 0.03L}}},
      {"0,0 0.25,0.15 0.75,0.85 1,1", {{0, 0.25L, 0.75L, 1}, {0, 0.15L, 0.85L, 1}}},
      {"0,0.91 0.3,0.2 0.31,0.71 0.5,0.71 1,0",
       {{0, 0.3L, 0.31L, 0.5L, 1}, {0.91L, 0.2L, 0.71L, 0.71L, 0}}}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.points);
    expect_mapped_colors({stage_of(formatted("--curve '{}'", each.points))},
                         [&](std::uint32_t sample, std::uint32_t max) {
                           const long double y =
                               each.curve(static_cast<long double>(sample) / max) * max;
                           return static_cast<std::uint32_t>(std::nearbyint(y));
                         });
  }
}

// `own` are curves of red, green and blue; then all colours have the same one.
Image curved(const Image& image, const std::array<std::function<long double(long double)>, 3>& own,
             const std::function<long double(long double)>& all) {
  const std::uint32_t max = image.format().max_sample();
  const bool grey = image.format().color_channels() == 1;
  return mapped(image, image.format(), [&](Samples pixel) {
    for (std::size_t c = 0; c < (grey ? 1 : 3); ++c) {
      long double y = static_cast<long double>(pixel.at(c)) / max;
      if (!grey && own.at(c)) y = std::clamp(own.at(c)(y), 0.0L, 1.0L);
      if (all) y = std::clamp(all(y), 0.0L, 1.0L);
      pixel.at(c) = static_cast<std::uint32_t>(std::nearbyint(y * max));
    }
    return pixel;
  });
}

TEST(Curve, OfAChannelComesBeforeThatOfAll) {
  const Pchip all{{0, 0.5L, 1}, {0.1L, 0.6L, 0.9L}};
  const Pchip red{{0, 0.25L, 1}, {0, 0.5L, 1}};
  const Pchip blue{{0, 1}, {1, 0}};
  for (const PixelFormat& format : all_formats()) {
    const Image image = random_image({67, 33}, format, 3);
    expect_everywhere({stage_of("--curve '0,0.1 0.5,0.6 1,0.9 b:0,1 1,0 r: 0,0 0.25,0.5 1,1'")},
                      image, curved(image, {red, nullptr, blue}, all));
    if (format.color_channels() == 1) {
      EXPECT_TRUE(lowered({stage_of("--curve 'r:0,0 0.25,0.5 1,1'")}, format).empty());
      continue;
    }
    expect_everywhere({stage_of("--curve 'r:0,0 0.25,0.5 1,1'")}, image,
                      curved(image, {red, nullptr, nullptr}, nullptr));
  }
}

TEST(CurveOption, RefusesWhatIsNoCurve) {
  expect_values(curve_stage_kind(),
                {"0,0 1,1", " 0,1  0.5,0.2\t1,0 ", "r:0,0 1,1", "0,0 1,1 g: 0,1 1,0 b:0,0 1,1"},
                {"", "0,0", "0,0 0,1", "1,1 0,0", "0,0 1", "0,0 1,2", "-1,0 1,1", "0;0 1;1",
                 "a,b c,d", "r:", "r:0,0", "r:0,0 1,1 r:0,0 1,1", "x:0,0 1,1",
                 "r:0,0 1,1 g:", "a:0,0 1,1", "missing.acv"});
}

// An .acv file: each curve's points as output and input.
Bytes photoshop_file(const std::vector<std::vector<std::pair<int, int>>>& curves, int version = 4) {
  Bytes bytes;
  const auto put = [&bytes](std::size_t number) { put_number(bytes, number, 2); };
  put(static_cast<std::size_t>(version));
  put(curves.size());
  for (const auto& curve : curves) {
    put(curve.size());
    for (const auto& [x, y] : curve) {
      put(static_cast<std::size_t>(y));
      put(static_cast<std::size_t>(x));
    }
  }
  return bytes;
}

// The natural spline by its second derivatives, from a system solved by Gaussian elimination.
class NaturalSpline {
 public:
  explicit NaturalSpline(const std::vector<std::pair<int, int>>& points) {
    for (const auto& [x, y] : points) {
      x_.push_back(x / 255.0L);
      y_.push_back(y / 255.0L);
    }
    const std::size_t n = x_.size();
    std::vector<std::vector<long double>> rows(n, std::vector<long double>(n + 1));
    rows[0][0] = rows[n - 1][n - 1] = 1;
    for (std::size_t i = 1; i + 1 < n; ++i) {
      rows[i][i - 1] = (x_[i] - x_[i - 1]) / 6;
      rows[i][i] = (x_[i + 1] - x_[i - 1]) / 3;
      rows[i][i + 1] = (x_[i + 1] - x_[i]) / 6;
      rows[i][n] =
          (y_[i + 1] - y_[i]) / (x_[i + 1] - x_[i]) - (y_[i] - y_[i - 1]) / (x_[i] - x_[i - 1]);
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        if (k == i) continue;
        const long double factor = rows[k][i] / rows[i][i];
        for (std::size_t j = 0; j <= n; ++j)
          rows[k][j] -= factor * rows[i][j];
      }
    }
    for (std::size_t i = 0; i < n; ++i)
      bends_.push_back(rows[i][n] / rows[i][i]);
  }

  long double operator()(long double x) const {
    if (x <= x_.front()) return y_.front();
    if (x >= x_.back()) return y_.back();
    const auto k = static_cast<std::size_t>(std::ranges::upper_bound(x_, x) - x_.begin() - 1);
    const long double h = x_[k + 1] - x_[k];
    const long double a = (x_[k + 1] - x) / h;
    const long double b = (x - x_[k]) / h;
    return a * y_[k] + b * y_[k + 1] +
           ((a * a * a - a) * bends_[k] + (b * b * b - b) * bends_[k + 1]) * h * h / 6;
  }

 private:
  std::vector<long double> x_;
  std::vector<long double> y_;
  std::vector<long double> bends_;
};

TEST(Curve, TakesPhotoshopsFiles) {
  const TemporaryFolder folder;
  const std::vector<std::vector<std::pair<int, int>>> points{
      {{0, 0}, {64, 40}, {190, 220}, {255, 255}},
      {{10, 0}, {128, 255}, {250, 30}},  // it overshoots
      {{0, 255}, {255, 0}},
      {{0, 30}, {20, 31}, {100, 31}, {101, 200}, {255, 255}},
      {{0, 0}, {255, 255}}};
  const std::string path = folder / "warm.acv";
  const Bytes bytes = photoshop_file(points);
  write_file(path, std::string(as_text(bytes)) + "Crv \1");
  const NaturalSpline all(points[0]);
  const std::array<std::function<long double(long double)>, 3> own{
      NaturalSpline(points[1]), NaturalSpline(points[2]), NaturalSpline(points[3])};
  const auto stage = curve_stage_kind().make(path);
  EXPECT_EQ(stage->label(), "warm.acv");
  for (const PixelFormat& format : all_formats()) {
    const Image image = random_image({301, 47}, format, 4);
    expect_everywhere({stage}, image, curved(image, own, all));
  }
  for (std::size_t size = 0; size < 60; ++size) {
    EXPECT_EQ(
        objection_to([&] { return parse_photoshop_curves(ByteSpan(bytes).first(size), "a.acv"); }),
        "a.acv: is not a file with Photoshop's curves (.acv)");
  }
  const auto is_refused = [](const Bytes& file) {
    return objection_to([&] { return parse_photoshop_curves(file, "a.acv"); }) != "none";
  };
  EXPECT_FALSE(is_refused(photoshop_file({{{0, 0}, {255, 255}}}, 1)));
  EXPECT_TRUE(is_refused(photoshop_file({{{0, 0}, {255, 255}}}, 2)));
  EXPECT_TRUE(is_refused(photoshop_file({})));
  EXPECT_TRUE(is_refused(photoshop_file({{{0, 0}}})));
  EXPECT_TRUE(is_refused(photoshop_file({{{0, 0}, {256, 255}}})));
  EXPECT_TRUE(is_refused(photoshop_file({{{0, 0}, {9, 9}, {9, 10}}})));
  EXPECT_TRUE(is_refused(photoshop_file({std::vector<std::pair<int, int>>(20)})));
}

TEST(Posterize, TakesTheNearestOfEvenlySpacedLevels) {
  for (const std::uint32_t levels : {2U, 3U, 7U, 255U, 256U}) {
    expect_mapped_colors({stage_of(formatted("--posterize {}", levels))}, [&](std::uint32_t sample,
                                                                              std::uint32_t max) {
      // In whole numbers, halves to even.
      const auto divided = [](std::uint64_t a, std::uint64_t b) {
        const std::uint64_t whole = a / b;
        const std::uint64_t twice = 2 * (a % b);
        return whole + (twice > b || (twice == b && whole % 2 == 1) ? 1 : 0);
      };
      const std::uint64_t level = divided(std::uint64_t{sample} * (levels - 1), max);
      return static_cast<std::uint32_t>(divided(level * max, levels - 1));
    });
  }
  expect_values(posterize_stage_kind(), {"2", "256"}, {"", "1", "257", "2.5"});
}

TEST(Binarize, MakesBrighterPixelsWhite) {
  for (const PixelFormat& format : all_formats()) {
    const PixelFormat target{format.has_alpha() ? 2 : 1, format.depth};
    const std::uint32_t max = format.max_sample();
    const Image image = random_image({517, 33}, format, 3);
    const Image expected = mapped(image, target, [&](const Samples& in) {
      const std::uint32_t luma =
          format.color_channels() == 1 ? in[0] : luma_bt709(in[0], in[1], in[2]);
      return Samples{10 * luma > 4 * max ? max : 0, format.color_channels() == 1 ? in[1] : in[3]};
    });
    expect_everywhere({stage_of("--binarize 40%")}, image, expected);
  }
  expect_values(binarize_stage_kind(), {"otsu", "0", "128", "50%"}, {"", "auto", "x%", "1,2"});
}

TEST(Binarize, WarnsOfALevelOf8BitsFor16) {
  const auto stage = stage_of("--binarize 128");
  EXPECT_TRUE(lowered({stage}, {3, 8}).front().warning.empty());
  EXPECT_TRUE(contains(lowered({stage}, {3, 16}).front().warning, "it is 32896"));
}

}  // namespace
}  // namespace gpufilter::test

// --exposure, --curve, --equalize, --binarize and --posterize against second implementations.

#include "stages/colour/linear.hpp"
#include "stages/point/lookup.hpp"
#include "support/instruction_sets.hpp"
#include "support/single_pixels.hpp"

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

TEST(CurveOption, RefusesWhatIsNoCurve) {
  expect_values(
      curve_stage_kind(), {"0,0 1,1", " 0,1  0.5,0.2\t1,0 "},
      {"", "0,0", "0,0 0,1", "1,1 0,0", "0,0 1", "0,0 1,2", "-1,0 1,1", "0;0 1;1", "a,b c,d"});
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

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "stages/point/lookup.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

using test::same_pixels;

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

TEST(LevelBounds, AreMinimumAndMaximumOverAllColours) {
  EXPECT_EQ(bounds({histogram_of(256, {{20, 1}, {200, 5}})}, 0), std::pair(20U, 200U));
  EXPECT_EQ(bounds({histogram_of(256, {{20, 1}}), histogram_of(256, {{7, 1}}),
                    histogram_of(256, {{255, 1}})},
                   0),
            std::pair(7U, 255U));
}

TEST(LevelBounds, LeaveOutTheShareToClip) {
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

TEST(Levels, StretchEverySampleAndLeaveAlphaAlone) {
  for (const PixelFormat format : {PixelFormat{1, 8}, {2, 8}, {3, 8}, {4, 8}, {3, 16}, {4, 16}}) {
    const auto max = static_cast<std::int64_t>(format.max_sample());
    const Image image = test::random_image({257, 129}, format, 11);
    const std::int64_t low = max / 10;
    const std::int64_t high = max - max / 7;
    const StageChain chain{make_levels({static_cast<double>(low)}, {static_cast<double>(high)})};
    Image expected = test::copy_of(image);
    for (const auto [x, y, c] : test::each_sample({257, 129}, format.color_channels())) {
      test::set_sample(expected, x, y, c,
                       stretched(test::sample_at(image, x, y, c), low, high, max));
    }
    test::check_on_host(image, chain, expected, {1000}, test::RowEnds::hold);
  }
}

TEST(Levels, InPercentAreOfTheMaximum) {
  const Image image = test::random_image({31, 33}, {3, 16}, 12);
  const StageChain percent{make_levels({20, true}, {80, true})};
  const StageChain samples{make_levels({13107}, {52428})};
  EXPECT_TRUE(same_pixels(test::filter_on_host(image, percent, {}),
                          test::filter_on_host(image, samples, {})));
}

TEST(AutoLevels, TakeTheirBoundsFromTheStatistics) {
  const auto stage = make_auto_levels(0);
  LoweredChain met = test::lowered({stage}, {4, 8});
  ASSERT_EQ(met.at(0).demand.value().statistics, Quantity::channel_histograms);
  Histograms histograms{{histogram_of(256, {{50, 3}}), histogram_of(256, {{150, 3}}),
                         histogram_of(256, {{100, 3}}), histogram_of(256, {{0, 2}, {255, 1}})}};
  const Image image = test::random_image({40, 40}, {4, 8}, 13);
  meet_demand(met, 0, histograms);
  EXPECT_FALSE(met.front().demand);
  // Alpha's extremes count for nothing.
  const StageChain explicitly{make_levels({50}, {150})};
  EXPECT_TRUE(same_pixels(test::filter_on_host(image, met, {}),
                          test::filter_on_host(image, explicitly, {})));
}

TEST(AutoLevels, LeaveAConstantPictureAsItIs) {
  LoweredChain chain = test::lowered({make_auto_levels(5)}, {1, 16});
  meet_demand(chain, 0, Histograms{{histogram_of(65536, {{4711, 100}})}});
  const Image image = test::random_image({31, 33}, {1, 16}, 14);
  EXPECT_TRUE(same_pixels(test::filter_on_host(image, chain, {}), image));
}

TEST(AutoLevels, AreNeverRunUnresolved) {
  const Image image = test::random_image({3, 3}, {1, 8}, 15);
  EXPECT_THROW(static_cast<void>(test::filter_on_host(image, {make_auto_levels(0)}, {})),
               std::logic_error);
}

TEST(LevelsOption, RefusesWhatMakesNoSense) {
  const StageKind kind = levels_stage_kind();
  for (const char* value :
       {"", "automatic", "auto=", "auto=x", "auto=-1", "auto=50", "auto=nan", "1", "1,", ",1",
        "2,1", "1,1", "1,2,3", "1%,2", "inf,3", "0x10,20", "1e999,2"}) {
    EXPECT_THROW(static_cast<void>(kind.make(value, {})), UsageError) << value;
  }
  for (const char* value :
       {"auto", "auto=0", "auto=0.5", "auto=2%", "0,255", "-10,300", "10%,90%", "16.5,235"}) {
    EXPECT_NO_THROW(static_cast<void>(kind.make(value, {}))) << value;
  }
}

}  // namespace
}  // namespace gpufilter

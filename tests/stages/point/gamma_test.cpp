// --gamma and --invert, which are tables, and tables that become one.

#include <cmath>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "pipeline/plan/plan.hpp"
#include "stage/options/catalogue.hpp"
#include "stages/point/lookup.hpp"
#include "support/filtering.hpp"
#include "support/single_pixels.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

template <typename Function>
void expect_for_colors(const StageChain& chain, const Function& function) {
  for (const PixelFormat& format : test::all_formats()) {
    const Image image = test::random_image({1031, 65}, format, 1);
    const Image expected = test::mapped(image, format, [&](test::Samples pixel) {
      for (int c = 0; c < format.color_channels(); ++c) {
        auto& sample = pixel.at(static_cast<std::size_t>(c));
        sample = function(sample, format.max_sample());
      }
      return pixel;
    });
    test::expect_everywhere(chain, image, expected);
  }
}

// In long double: no power of these is near enough to a half for the last bits to matter.
std::uint32_t brightened(std::uint32_t sample, std::uint32_t max, long double gamma) {
  const long double share = static_cast<long double>(sample) / max;
  return static_cast<std::uint32_t>(std::nearbyint(std::pow(share, 1 / gamma) * max));
}

TEST(Gamma, IsAPowerOfEveryColourSample) {
  for (const double gamma : {0.45, 1.0, 2.2, 10.0}) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> tables;
    for (const std::uint32_t max : {255U, 65535U}) {
      for (std::uint32_t sample = 0; sample <= max; ++sample)
        tables[max].push_back(brightened(sample, max, gamma));
    }
    expect_for_colors(
        {test::stage_of(formatted("--gamma {}", gamma))},
        [&](std::uint32_t sample, std::uint32_t max) { return tables.at(max).at(sample); });
  }
}

TEST(Invert, SubtractsEveryColourSampleFromTheLargest) {
  expect_for_colors({test::stage_of("--invert")},
                    [](std::uint32_t sample, std::uint32_t max) { return max - sample; });
}

TEST(Tables, OfNeighboursBecomeOneWithTheSameBits) {
  const StageChain chain{test::stage_of("--gamma 2.2"), test::stage_of("--invert"),
                         make_levels({10, true}, {80, true})};
  for (const PixelFormat& format : {PixelFormat{4, 8}, PixelFormat{3, 16}}) {
    const Plan plan = make_plan({{301, 9}, format}, chain);
    ASSERT_EQ(plan.passes.size(), 1U);
    EXPECT_EQ(plan.passes.front().step->title().name, "gamma + invert + levels");
    const Image image = test::random_image({301, 9}, format, 3);
    Image apart = test::copy_of(image);
    for (const auto& stage : chain)
      apart = test::filter_on_host(apart, {stage}, {});
    test::expect_everywhere(chain, image, apart);
  }
}

TEST(GammaOption, TakesNumbersFromATenthToTen) {
  for (const char* value : {"0.1", "1", "2.2", "10"})
    EXPECT_NO_THROW(static_cast<void>(gamma_stage_kind().make(value))) << value;
  for (const char* value : {"", "0", "-1", "11", "nan", "2,2"})
    EXPECT_THROW(static_cast<void>(gamma_stage_kind().make(value)), UsageError) << value;
}

}  // namespace
}  // namespace gpufilter

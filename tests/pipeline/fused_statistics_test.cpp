// Statistics that the kernel of the stages before them gathers: those of separate kernels and of
// the processor, over random chains, formats, sizes and band heights.
#include <array>
#include <optional>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "pipeline/execute/band_feed.hpp"
#include "pipeline/run/memory_picture.hpp"
#include "stages/point/tonemap.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"
#include "support/random_chains.hpp"
#include "support/stage_cases.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

PictureStatistics measured(const Image& image, const Plan& plan, BandExecutor& executor) {
  test::ImageReader reader(image);
  BandFeed feed(reader, plan, executor.pool());
  for (const RowRange& band : plan.bands()) {
    const auto source = feed.next(band);
    executor.measure(source->rows(), band);
  }
  return executor.statistics();
}

Plan measuring_plan(const Image& image, const StageChain& chain, Quantity quantity, int band_rows) {
  Plan plan = make_plan({image.size(), image.format()}, chain, {.band_rows = band_rows});
  plan.measure = quantity;
  return plan;
}

void expect_fused_statistics(Session& session, const Image& image, const StageChain& chain,
                             const std::string& what) {
  for (const Quantity quantity : {Quantity::channel_histograms, Quantity::luma_histogram}) {
    Timeline timeline;
    const Image filtered = test::filter_on_host(image, chain, {});
    PictureStatistics expected = no_statistics(filtered.format(), quantity);
    add_pixels(expected, filtered.rows());
    for (const int rows : {1000, 4}) {
      const Plan plan = measuring_plan(image, chain, quantity, rows);
      const auto executor = make_device_executor(plan, session, timeline);
      // Twice: counters go on after they were read.
      ASSERT_TRUE(measured(image, plan, *executor) == expected)
          << session.device().name << ", " << what << ", " << to_string(image.format()) << ", "
          << image.size().width << "x" << image.size().height << ", quantity "
          << static_cast<int>(quantity) << ", bands of " << rows << ":" << test::names(chain);
      PictureStatistics twice = expected;
      add_statistics(twice, expected);
      ASSERT_TRUE(measured(image, plan, *executor) == twice) << what;
    }
  }
}

TEST(FusedStatistics, AreThoseOfTheStoredResult) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  constexpr std::array sizes{ImageSize{1, 1},   ImageSize{1, 9},    ImageSize{7, 1},
                             ImageSize{67, 21}, ImageSize{1100, 3}, ImageSize{131, 70}};
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    test::Chains chains(100 + seed);
    const StageChain chain = chains.draw(3);
    const PixelFormat format = test::all_formats().at(seed % test::all_formats().size());
    for (int i = 0; i < 3; ++i) {
      const ImageSize size = sizes.at(static_cast<std::size_t>(chains.whole(0, 5)));
      const Image image =
          i == 0 ? test::extreme_image(size, format, seed) : test::random_image(size, format, seed);
      for (Session* session : test::kernel_sessions(format)) {
        expect_fused_statistics(*session, image, chain, formatted("seed {}", seed));
        if (HasFatalFailure()) return;
      }
    }
  }
}

std::vector<PassReport> reports(Session& session, const StageChain& chain, Quantity quantity,
                                bool fuse = true) {
  const Image image = test::random_image({40, 30}, {3, 8}, 1);
  const Plan plan = measuring_plan(image, chain, quantity, 8);
  Timeline timeline;
  return make_device_executor(plan, session, timeline, fuse)->passes();
}

TEST(FusedStatistics, RideAlongWithPixelsAndWindows) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Session& session = *test::kernel_sessions().front();
  test::Chains chains(1);
  const auto histograms = Quantity::channel_histograms;
  const StageChain pixels{chains.color(), chains.scaling()};
  const auto alone = reports(session, pixels, histograms);
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(alone[0].stage, "color + tonemap + statistics");
  EXPECT_EQ(alone[0].work.size(), 3U);
  EXPECT_TRUE(test::contains(alone[0].source, "void count_pixel("));
  EXPECT_EQ(reports(session, pixels, histograms, false).size(), 3U);

  const StageChain window{chains.blur()};
  const auto blurred = reports(session, window, Quantity::luma_histogram);
  ASSERT_EQ(blurred.size(), 1U);
  EXPECT_EQ(blurred[0].stage, "blur + statistics");
  EXPECT_TRUE(test::contains(blurred[0].source, "#define COUNTS 1"));
}

// What cannot share a kernel is measured by one of its own.
TEST(FusedStatistics, TotalsAndNamedKernelsStayApart) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Session& session = *test::kernel_sessions().front();
  const StageChain naive{make_blur({.variant = BlurVariant::naive})};
  for (const auto& passes : {reports(session, naive, Quantity::luma_histogram),
                             reports(session, {make_blur({})}, Quantity::totals)}) {
    ASSERT_EQ(passes.size(), 2U);
    EXPECT_EQ(passes[0].stage, "blur");
    EXPECT_EQ(passes[1].stage, "statistics");
    EXPECT_FALSE(passes[1].source.empty());
  }
  EXPECT_EQ(reports(session, {}, Quantity::luma_histogram).size(), 1U);
}

// Stages that wait for statistics of what precedes them.
TEST(FusedStatistics, LeadToTheBitsOfTheProcessor) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  for (Session* session : test::kernel_sessions()) {
    for (const PixelFormat& format : {PixelFormat{3, 8}, {2, 16}}) {
      test::Chains chains(3);
      const StageChain chain{chains.color(), make_auto_levels(2), chains.blur(),
                             make_tonemap({.curve = ToneCurve::filmic, .key = 0.3})};
      const Image image = test::random_image({61, 37}, format, 5);
      const Image expected = lab::filter_by_baseline(image, chain);
      for (const bool fuse : {true, false}) {
        Timeline timeline;
        ASSERT_TRUE(test::same_pixels(lab::filter_in_memory(image, chain, {.band_rows = 9},
                                                            [&](const Plan& plan) {
                                                              return make_device_executor(
                                                                  plan, *session, timeline, fuse);
                                                            }),
                                      expected))
            << session->device().name << ", " << to_string(format) << (fuse ? ", fused" : "");
      }
    }
  }
}

}  // namespace
}  // namespace gpufilter

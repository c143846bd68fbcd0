// Stages that share a kernel give the same bits as stages with separate kernels and as the
// processor: random chains over formats, sizes, borders and band heights.
#include <array>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "net/pixel/mlp.hpp"
#include "pipeline/execute/pass_groups.hpp"
#include "stages/point/levels.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"
#include "support/random_chains.hpp"
#include "support/stage_cases.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

void expect_the_same_pixels(Session& session, const Image& image, const StageChain& chain,
                            bool fuse, const std::string& what) {
  const Image expected = test::filter_on_host(image, chain, {});
  for (const int rows : {1, 5, 1000}) {
    ASSERT_TRUE(test::same_pixels(
        test::filter_on_device(session, image, chain, {.band_rows = rows}, fuse), expected))
        << session.device().name << (fuse ? ", fused, " : ", not fused, ") << what << ", "
        << to_string(image.format()) << ", " << image.size().width << "x" << image.size().height
        << ", bands of " << rows << ":" << test::names(chain);
  }
}

// One extreme picture and two random ones, of random sizes.
void expect_the_same_pixels(Session& session, const PixelFormat& format, const StageChain& chain,
                            bool fuse, std::uint64_t seed) {
  constexpr std::array sizes{ImageSize{1, 1}, ImageSize{1, 9},  ImageSize{7, 1},   ImageSize{4, 4},
                             ImageSize{5, 3}, ImageSize{67, 9}, ImageSize{131, 23}};
  test::Chains draw(seed + 1000);
  for (int i = 0; i < 3; ++i) {
    const ImageSize size = sizes.at(static_cast<std::size_t>(draw.whole(0, 6)));
    const Image image =
        i == 0 ? test::extreme_image(size, format, seed) : test::random_image(size, format, seed);
    ASSERT_NO_FATAL_FAILURE(
        expect_the_same_pixels(session, image, chain, fuse, formatted("seed {}", seed)));
  }
}

// Each chain takes a second or more to compile, so half of the formats are for CPUs, half for GPUs.
TEST(Fusion, RandomChainsGiveTheBitsOfTheProcessor) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  for (std::uint64_t seed = 1; seed <= 14; ++seed) {
    const StageChain chain = test::Chains(seed).draw(6);
    const PixelFormat format = test::all_formats().at(seed % test::all_formats().size());
    for (Session* session : test::kernel_sessions(format))
      ASSERT_NO_FATAL_FAILURE(expect_the_same_pixels(*session, format, chain, true, seed));
  }
}

// Chains of a few stages in two formats, so that they share programs: GPUs take a second or more to
// compile one. Each stage's own kernel is tested in every format elsewhere.
TEST(Fusion, RandomChainsOfSeparateKernelsGiveTheSameBits) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  test::Chains chains(40);
  const StageChain stages{chains.color(),
                          make_levels({10, true}, {90, true}),
                          chains.scaling(),
                          make_mlp(chains.network({3, 5, 4})),
                          make_blur({.border = Border::wrap}),
                          make_blur({.border = Border::mirror, .alpha = AlphaMode::independent})};
  for (Session* session : test::kernel_sessions()) {
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
      StageChain chain;
      for (int left = chains.whole(2, 6); left > 0; --left)
        chain.push_back(stages.at(static_cast<std::size_t>(chains.whole(0, 5))));
      ASSERT_NO_FATAL_FAILURE(expect_the_same_pixels(*session, {3, 8}, chain, false, seed));
    }
  }
}

// From a few numbers between layers to more than registers hold.
TEST(Fusion, NetworksOfEveryWidthGiveTheBitsOfTheProcessor) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  for (Session* session : test::kernel_sessions()) {
    test::Chains chains(70);
    for (int i = 0; i < 8; ++i) {
      std::vector<int> widths{chains.whole(3, 4)};
      for (int layer = chains.whole(0, 3); layer > 0; --layer)
        widths.push_back(chains.whole(1, i < 6 ? 70 : 256));
      if (i == 7) widths.push_back(256);
      widths.push_back(chains.whole(3, 4));
      const StageChain chain{make_mlp(chains.network(widths))};
      const PixelFormat format =
          test::all_formats().at(static_cast<std::size_t>(i) % test::all_formats().size());
      ASSERT_NO_FATAL_FAILURE(
          expect_the_same_pixels(*session, test::random_image({37, 5}, format, 3), chain, true,
                                 formatted("{}", fmt::join(widths, "-"))));
    }
  }
}

// Pictures of several tiles, the last ones cut off, and of parts of one. Tables are in local
// memory.
TEST(Fusion, BlursInTilesGiveTheBitsOfTheProcessor) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  struct Case {
    int channels;
    BlurParameters blur;
  };
  const std::array cases{Case{1, {.border = Border::replicate}},
                         Case{1, {.border = Border::wrap}},
                         Case{2, {.border = Border::mirror}},
                         Case{2, {.border = Border::constant, .alpha = AlphaMode::independent}},
                         Case{3, {.border = Border::constant}},
                         Case{3, {.border = Border::mirror}},
                         Case{4, {.border = Border::wrap}},
                         Case{4, {.border = Border::replicate, .alpha = AlphaMode::independent}}};
  for (Session* session : test::kernel_sessions()) {
    if (session->device().kind != DeviceKind::gpu) continue;
    for (const Case& each : cases) {
      const PixelFormat format{each.channels, 8};
      const auto blur = make_blur(each.blur);
      const auto step = blur->lower({}).steps.at(0);
      ASSERT_EQ(step->window_kernel(format, session->device(), {})->kernel.function,
                "blur_rolled_tile");
      StageChain chain{make_levels({16, false}, {235, false}), blur,
                       make_levels({3, false}, {200, false})};
      if (each.channels >= 3) chain.push_back(test::Chains(5).color());
      for (const ImageSize size : {ImageSize{1027, 80}, ImageSize{129, 36}, ImageSize{9, 2}}) {
        ASSERT_NO_FATAL_FAILURE(expect_the_same_pixels(
            *session, test::random_image(size, format, 6), chain, true, "a blur in tiles"));
        ASSERT_NO_FATAL_FAILURE(expect_the_same_pixels(
            *session, test::extreme_image(size, format, 7), chain, true, "a blur in tiles"));
      }
    }
  }
}

TEST(Fusion, StagesOverSinglePixelsShareAKernel) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Session& session = *test::kernel_sessions().front();
  test::Chains chains(1);
  const StageChain chain{chains.color(), chains.scaling(), make_levels({16, false}, {235, false})};
  const Plan plan = make_plan({{64, 48}, {3, 8}}, chain);
  Timeline timeline;
  const auto fused = make_device_executor(plan, session, timeline);
  ASSERT_EQ(fused->passes().size(), 1U);
  EXPECT_EQ(fused->passes()[0].stage, "color + tonemap + levels");
  EXPECT_EQ(fused->passes()[0].work.size(), 3U);
  EXPECT_TRUE(test::contains(fused->passes()[0].source, "void fused("));
  EXPECT_EQ(make_device_executor(plan, session, timeline, false)->passes().size(), 3U);
}

// The groups of a chain: "color + edges, blur".
std::string groups_of(const std::string& words, const PixelFormat& format) {
  DeviceInfo device;
  device.kind = DeviceKind::gpu;
  device.max_work_group_size = 1024;
  device.max_work_item_sizes = {1024, 1024, 64};
  device.local_memory = 49152;
  const Plan plan = make_plan({{64, 48}, format}, test::stages_of(words), {.device = &device});
  std::vector<std::string> groups;
  for (const PassGroup& group : group_passes(plan, device, true))
    groups.push_back(describe_group(plan, group).stage);
  return formatted("{}", fmt::join(groups, ", "));
}

TEST(Fusion, WindowsShareAKernelWithTheStagesAfterThem) {
  for (const std::string window : {"--blur auto", "--median 1", "--median 2", "--denoise 10",
                                   "--edges sobel", "--convolve \"1 2 1\""}) {
    const std::string groups = groups_of(window + " --color sepia --gamma 2", {3, 8});
    EXPECT_TRUE(groups.ends_with(" + color + gamma")) << groups;
    EXPECT_FALSE(test::contains(groups, ",")) << groups;
  }
  EXPECT_EQ(groups_of("--dilate 2 --color sepia", {3, 8}), "dilate rows, dilate columns + color");
  EXPECT_EQ(groups_of("--median 3 --color sepia", {3, 8}), "median, color");
  EXPECT_EQ(groups_of("--median 1 --color sepia", {4, 8}), "median, color");
  EXPECT_EQ(groups_of("--edges sobel --blur auto", {3, 8}), "edges, blur");
}

// A window loads a pixel several times, and computes what stands before it as often.
TEST(Fusion, WindowsShareAKernelWithTheStagesBeforeThemIfThatIsLessThanAPass) {
  EXPECT_EQ(groups_of("--color sepia --blur auto --gamma 2", {3, 8}), "color + blur + gamma");
  EXPECT_EQ(groups_of("--color sepia --median 1 --gamma 2", {3, 8}), "color, median + gamma");
  EXPECT_EQ(groups_of("--color sepia --median 1 --gamma 2", {3, 16}), "color + median + gamma");
  EXPECT_EQ(groups_of("--color sepia --dilate 4", {3, 8}), "color + dilate rows, dilate columns");
  EXPECT_EQ(groups_of("--color sepia --dilate 30", {3, 8}), "color, dilate rows, dilate columns");
  EXPECT_EQ(groups_of("--color sepia --median 2", {3, 8}), "color, median");
  EXPECT_EQ(groups_of("--color sepia --edges sobel --gamma 2", {3, 8}), "color + edges + gamma");
  EXPECT_EQ(groups_of("--color sepia --convolve \"1 2 1; 2 4 2; 1 2 1\"", {3, 8}),
            "color, convolve");
}

}  // namespace
}  // namespace gpufilter

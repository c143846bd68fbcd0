// Stages that share a kernel give the same bits as stages with separate kernels and as the
// processor: random chains over formats, sizes, borders and band heights.

#include "pipeline/execute/band_feed.hpp"
#include "pipeline/execute/pass_groups.hpp"
#include "pipeline/run/memory_picture.hpp"
#include "pipeline/run/run.hpp"
#include "support/random_chains.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

void expect_the_same_pixels(Session& session, const Image& image, const StageChain& chain,
                            bool fuse, const std::string& what,
                            const std::vector<int>& bands = {1, 5, 1000}) {
  const Image expected = filter_on_host(image, chain, {});
  for (const int rows : bands) {
    ASSERT_TRUE(
        same_pixels(filter_on_device(session, image, chain, {.band_rows = rows}, fuse), expected))
        << session.device().name << (fuse ? ", fused, " : ", not fused, ") << what << ", "
        << to_string(image.format()) << ", " << image.size().width << "x" << image.size().height
        << ", bands of " << rows << ":" << names(chain);
  }
}

// One extreme picture and two random ones, of random sizes.
void expect_the_same_pixels(Session& session, const PixelFormat& format, const StageChain& chain,
                            bool fuse, std::uint64_t seed) {
  constexpr std::array sizes{ImageSize{1, 1}, ImageSize{1, 9},  ImageSize{7, 1},   ImageSize{4, 4},
                             ImageSize{5, 3}, ImageSize{67, 9}, ImageSize{131, 23}};
  Chains draw(seed + 1000);
  for (int i = 0; i < 3; ++i) {
    const ImageSize size = sizes.at(static_cast<std::size_t>(draw.whole(0, 6)));
    const Image image =
        i == 0 ? extreme_image(size, format, seed) : random_image(size, format, seed);
    ASSERT_NO_FATAL_FAILURE(
        expect_the_same_pixels(session, image, chain, fuse, formatted("seed {}", seed)));
  }
}

// Each chain takes a second or more to compile, so half of the formats are for CPUs, half for GPUs.
TEST(Fusion, RandomChainsGiveTheBitsOfTheProcessor) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  for (std::uint64_t seed = 1; seed <= 14; ++seed) {
    const StageChain chain = Chains(seed).draw(6);
    const PixelFormat format = all_formats().at(seed % all_formats().size());
    for (Session* session : kernel_sessions(format))
      ASSERT_NO_FATAL_FAILURE(expect_the_same_pixels(*session, format, chain, true, seed));
  }
}

// Chains of a few stages in two formats, so that they share programs: GPUs take a second or more to
// compile one. Each stage's own kernel is tested in every format elsewhere.
TEST(Fusion, RandomChainsOfSeparateKernelsGiveTheSameBits) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Chains chains(40);
  const StageChain stages{chains.color(),
                          make_levels({10, true}, {90, true}),
                          chains.scaling(),
                          make_mlp(chains.network({3, 5, 4})),
                          make_blur({.border = Border::wrap}),
                          make_blur({.border = Border::mirror, .alpha = AlphaMode::independent})};
  for (Session* session : kernel_sessions()) {
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
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  for (Session* session : kernel_sessions()) {
    Chains chains(70);
    for (int i = 0; i < 8; ++i) {
      std::vector<int> widths{chains.whole(3, 4)};
      for (int layer = chains.whole(0, 3); layer > 0; --layer)
        widths.push_back(chains.whole(1, i < 6 ? 70 : 256));
      if (i == 7) widths.push_back(256);
      widths.push_back(chains.whole(3, 4));
      const StageChain chain{make_mlp(chains.network(widths))};
      const PixelFormat format =
          all_formats().at(static_cast<std::size_t>(i) % all_formats().size());
      ASSERT_NO_FATAL_FAILURE(expect_the_same_pixels(*session, random_image({37, 5}, format, 3),
                                                     chain, true,
                                                     formatted("{}", fmt::join(widths, "-"))));
    }
  }
}

// Pictures of several tiles, the last ones cut off, and of parts of one. Tables are in local
// memory.
TEST(Fusion, BlursInTilesGiveTheBitsOfTheProcessor) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
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
  for (Session* session : kernel_sessions()) {
    if (session->device().kind != DeviceKind::gpu) continue;
    for (const Case& each : cases) {
      const PixelFormat format{each.channels, 8};
      const auto blur = make_blur(each.blur);
      const auto step = blur->lower({}).steps.at(0);
      ASSERT_EQ(step->window_kernel(format, session->device(), {})->kernel.function,
                "blur_rolled_tile");
      StageChain chain{make_levels({16, false}, {235, false}), blur,
                       make_levels({3, false}, {200, false})};
      if (each.channels >= 3) chain.push_back(Chains(5).color());
      for (const ImageSize size : {ImageSize{1027, 80}, ImageSize{129, 36}, ImageSize{9, 2}}) {
        // A band takes as long as a tile, however few rows it has.
        const std::vector<int> bands{size.height > 50 ? 41 : 1, 5, 1000};
        for (const Image& image : {random_image(size, format, 6), extreme_image(size, format, 7)})
          expect_the_same_pixels(*session, image, chain, true, "a blur in tiles", bands);
      }
    }
  }
}

TEST(Fusion, StagesOverSinglePixelsShareAKernel) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Session& session = *kernel_sessions().front();
  Chains chains(1);
  const StageChain chain{chains.color(), chains.scaling(), make_levels({16, false}, {235, false})};
  const Plan plan = make_plan({{64, 48}, {3, 8}}, chain);
  Timeline timeline;
  const auto fused = make_device_executor(plan, session, timeline);
  ASSERT_EQ(fused->passes().size(), 1U);
  EXPECT_EQ(fused->passes()[0].stage, "color + tonemap + levels");
  EXPECT_EQ(fused->passes()[0].work.size(), 3U);
  EXPECT_TRUE(contains(fused->passes()[0].source, "void fused("));
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
  for (const std::string window :
       {"--blur auto", "--median 1", "--median 2", "--median 7", "--denoise 10", "--edges sobel",
        "--dilate 3", "--convolve \"1 2 1\""}) {
    const std::string groups = groups_of(window + " --color sepia --gamma 2", {3, 8});
    EXPECT_TRUE(groups.ends_with(" + color + gamma")) << groups;
    EXPECT_FALSE(test::contains(groups, ",")) << groups;
  }
  EXPECT_EQ(groups_of("--dilate 4 --color sepia", {3, 8}), "dilate rows, dilate columns + color");
  EXPECT_EQ(groups_of("--median 8 --color sepia", {3, 8}), "median, color");
  EXPECT_EQ(groups_of("--median 1 --color sepia", {4, 8}), "median, color");
  EXPECT_EQ(groups_of("--edges sobel --blur auto", {3, 8}), "edges, blur");
}

// A window loads a pixel several times, and computes the earlier stages as often.
TEST(Fusion, WindowsShareAKernelWithTheStagesBeforeThemIfThatIsLessThanAPass) {
  EXPECT_EQ(groups_of("--color sepia --blur auto --gamma 2", {3, 8}), "color + blur + gamma");
  EXPECT_EQ(groups_of("--color sepia --median 1 --gamma 2", {3, 8}), "color, median + gamma");
  EXPECT_EQ(groups_of("--color sepia --median 1 --gamma 2", {3, 16}), "color + median + gamma");
  EXPECT_EQ(groups_of("--color sepia --dilate 4", {3, 8}), "color + dilate rows, dilate columns");
  EXPECT_EQ(groups_of("--color sepia --dilate 30", {3, 8}), "color, dilate rows, dilate columns");
  EXPECT_EQ(groups_of("--color sepia --median 2", {3, 8}), "color, median");
  EXPECT_EQ(groups_of("--color sepia --edges sobel --gamma 2", {3, 8}), "color + edges + gamma");
  EXPECT_EQ(groups_of("--color sepia --convolve \"1 2 1; 2 4 2; 1 2 1\"", {3, 8}),
            "color + convolve");
  EXPECT_EQ(groups_of("--color sepia --convolve \"1 2 1; 2 4 2; 1 2 1\"", {3, 16}),
            "color, convolve");
}

// Statistics that the kernel of the stages before them gathers: those of separate kernels and of
// the processor, over random chains, formats, sizes and band heights.

PictureStatistics measured(const Image& image, const Plan& plan, BandExecutor& executor) {
  ImageReader reader(image);
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
    const Image filtered = filter_on_host(image, chain, {});
    PictureStatistics expected = no_statistics(filtered.format(), quantity);
    add_pixels(expected, filtered.rows());
    for (const int rows : {1000, 4}) {
      const Plan plan = measuring_plan(image, chain, quantity, rows);
      const auto executor = make_device_executor(plan, session, timeline);
      // Twice: counters go on after they were read.
      ASSERT_TRUE(measured(image, plan, *executor) == expected)
          << session.device().name << ", " << what << ", " << to_string(image.format()) << ", "
          << image.size().width << "x" << image.size().height << ", quantity "
          << static_cast<int>(quantity) << ", bands of " << rows << ":" << names(chain);
      PictureStatistics twice = expected;
      add_statistics(twice, expected);
      ASSERT_TRUE(measured(image, plan, *executor) == twice) << what;
    }
  }
}

TEST(FusedStatistics, AreThoseOfTheStoredResult) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  constexpr std::array sizes{ImageSize{1, 1},   ImageSize{1, 9},    ImageSize{7, 1},
                             ImageSize{67, 21}, ImageSize{1100, 3}, ImageSize{131, 70}};
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Chains chains(100 + seed);
    const StageChain chain = chains.draw(3);
    const PixelFormat format = all_formats().at(seed % all_formats().size());
    for (int i = 0; i < 3; ++i) {
      const ImageSize size = sizes.at(static_cast<std::size_t>(chains.whole(0, 5)));
      const Image image =
          i == 0 ? extreme_image(size, format, seed) : random_image(size, format, seed);
      for (Session* session : kernel_sessions(format)) {
        ASSERT_NO_FATAL_FAILURE(
            expect_fused_statistics(*session, image, chain, formatted("seed {}", seed)));
      }
    }
  }
}

std::vector<PassReport> reports(Session& session, const StageChain& chain, Quantity quantity,
                                bool fuse = true) {
  const Image image = random_image({40, 30}, {3, 8}, 1);
  const Plan plan = measuring_plan(image, chain, quantity, 8);
  Timeline timeline;
  return make_device_executor(plan, session, timeline, fuse)->passes();
}

TEST(FusedStatistics, RideAlongWithPixelsAndWindows) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Session& session = *kernel_sessions().front();
  Chains chains(1);
  const auto histograms = Quantity::channel_histograms;
  const StageChain pixels{chains.color(), chains.scaling()};
  const auto alone = reports(session, pixels, histograms);
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(alone[0].stage, "color + tonemap + statistics");
  EXPECT_EQ(alone[0].work.size(), 3U);
  EXPECT_TRUE(contains(alone[0].source, "void count_pixel("));
  EXPECT_EQ(reports(session, pixels, histograms, false).size(), 3U);

  const StageChain window{chains.blur()};
  const auto blurred = reports(session, window, Quantity::luma_histogram);
  ASSERT_EQ(blurred.size(), 1U);
  EXPECT_EQ(blurred[0].stage, "blur + statistics");
  EXPECT_TRUE(contains(blurred[0].source, "#define COUNTS 1"));
}

// Statistics that cannot be fused have their own kernel.
TEST(FusedStatistics, TotalsAndNamedKernelsStayApart) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Session& session = *kernel_sessions().front();
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
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  for (Session* session : kernel_sessions()) {
    for (const PixelFormat& format : {PixelFormat{3, 8}, {2, 16}}) {
      Chains chains(3);
      const StageChain chain{chains.color(), make_auto_levels(2), chains.blur(),
                             make_tonemap({.curve = ToneCurve::filmic, .key = 0.3})};
      const Image image = random_image({61, 37}, format, 5);
      const Image expected = lab::filter_by_baseline(image, chain);
      for (const bool fuse : {true, false}) {
        Timeline timeline;
        ASSERT_TRUE(same_pixels(lab::filter_in_memory(image, chain, {.band_rows = 9},
                                                      [&](const Plan& plan) {
                                                        return make_device_executor(plan, *session,
                                                                                    timeline, fuse);
                                                      }),
                                expected))
            << session->device().name << ", " << to_string(format) << (fuse ? ", fused" : "");
      }
    }
  }
}

// Stages one after the other, from file to file: the same bits on every device and for every band
// height, in every order, even if a stage needs the whole picture first.

struct StageUse {
  const char* option;
  const char* value;
};

constexpr std::array uses{StageUse{"--blur", "tiled"}, StageUse{"--color", "sepia"},
                          StageUse{"--levels", "auto=1"}, StageUse{"--tonemap", "reinhard"},
                          StageUse{"--mlp", GPUFILTER_SOURCE "/samples/networks/golden-hour.json"}};

std::shared_ptr<const Stage> make_stage(const StageUse& use) {
  for (const StageKind& kind : stage_catalogue()) {
    if (kind.option == use.option) return kind.make(use.value, {});
  }
  throw std::logic_error(std::string("no stage ") + use.option);
}

class ChainsOfFiles : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Engine> engine(std::optional<DeviceInfo> device,
                                               std::optional<int> rows) const {
    EngineOptions options{.band_rows = rows};
    // PoCL keeps what it compiled as long as the process lives; a binary would cost more.
    if (device && device->kind != DeviceKind::cpu)
      options.cache = ProgramCache(folder_.path() / "cache");
    return std::make_unique<Engine>(std::vector<DeviceCandidate>{{std::move(device), "requested"}},
                                    std::move(options));
  }

  RunReport filter(Engine& engine, const StageChain& chain) const {
    return filter_picture(folder_ / "in.png", {folder_ / "out.png"}, chain, engine, {});
  }

  TemporaryFolder folder_;
};

TEST_F(ChainsOfFiles, OfThreeInEveryOrderAreTheSameEverywhere) {
  for (const PixelFormat format : {PixelFormat{3, 8}, {4, 16}}) {
    write_png(random_image({61, 47}, format, 31), folder_ / "in.png");
    const auto reference = engine(std::nullopt, std::nullopt);
    std::vector<std::unique_ptr<Engine>> engines;
    std::vector<std::unique_ptr<Engine>> devices;
    for (const int rows : {1, 13, 1000}) {
      if (rows < 47) engines.push_back(engine(std::nullopt, rows));
      for (const auto& session : all_sessions())
        devices.push_back(engine(session->device(), rows));
    }
    constexpr std::size_t kinds = uses.size();
    for (std::size_t i = 0; i < kinds * kinds * kinds; ++i) {
      const std::array order{uses.at(i % kinds), uses.at(i / kinds % kinds),
                             uses.at(i / kinds / kinds)};
      const StageChain chain{make_stage(order[0]), make_stage(order[1]), make_stage(order[2])};
      filter(*reference, chain);
      const Image expected = read_picture(folder_ / "out.png");
      const auto check = [&](Engine& other) {
        const RunReport report = filter(other, chain);
        other.keep_programs();
        ASSERT_TRUE(same_pixels(read_picture(folder_ / "out.png"), expected))
            << report.engine.device << ", " << to_string(format) << ": " << order[0].option << " "
            << order[1].option << " " << order[2].option;
      };
      for (const auto& other : engines)
        check(*other);
      // Every chain requires a program to be compiled: on devices, every stage comes before, after
      // and two after every other.
      const std::size_t third = (i + i / kinds) % kinds;
      if (i / kinds / kinds == third && i % 2 == (format.depth == 8 ? 0U : 1U)) {
        for (const auto& other : devices)
          check(*other);
      }
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(ChainsOfFiles, StretchWhatPrecedesThemNotTheInput) {
  Image image({4, 1}, {1, 8});
  constexpr std::array<std::uint32_t, 4> samples{0, 60, 90, 200};
  for (int x = 0; x < 4; ++x)
    set_sample(image, x, 0, 0, samples.at(static_cast<std::size_t>(x)));
  write_png(image, folder_ / "in.png");
  const auto on_host = engine(std::nullopt, std::nullopt);
  // 50..100 becomes 0..255; the values 0, 51, 204, 255 already cover the full range, so nothing
  // changes any more.
  const StageChain chain{make_stage({"--levels", "50,100"}), make_stage({"--levels", "auto"})};
  const RunReport report = filter(*on_host, chain);
  const Image result = read_picture(folder_ / "out.png");
  EXPECT_EQ(sample_at(result, 0, 0, 0), 0U);
  EXPECT_EQ(sample_at(result, 1, 0, 0), 51U);
  EXPECT_EQ(sample_at(result, 2, 0, 0), 204U);
  EXPECT_EQ(sample_at(result, 3, 0, 0), 255U);
  // Once through the picture for its statistics, once to write it, with both tables as one.
  ASSERT_EQ(report.passes.size(), 3U);
  EXPECT_EQ(report.passes[0].stage, "levels");
  EXPECT_EQ(report.passes[1].stage, "statistics");
  EXPECT_EQ(report.passes[1].walk, 0);
  EXPECT_EQ(report.passes[2].walk, 1);
}

TEST_F(ChainsOfFiles, ReportProgressOverAllWalks) {
  write_png(random_image({20, 10}, {3, 8}, 32), folder_ / "in.png");
  const auto on_host = engine(std::nullopt, 5);
  std::vector<std::pair<std::int64_t, std::int64_t>> reported;
  RunOptions options;
  options.on_progress = [&](std::int64_t done, std::int64_t all) {
    reported.emplace_back(done, all);
  };
  static_cast<void>(filter_picture(folder_ / "in.png", {folder_ / "out.png"},
                                   {make_stage({"--levels", "auto"})}, *on_host, options));
  const std::vector<std::pair<std::int64_t, std::int64_t>> expected{
      {5, 20}, {10, 20}, {15, 20}, {20, 20}};
  EXPECT_EQ(reported, expected);
}

}  // namespace
}  // namespace gpufilter::test

// The executors: strips, parts and bands change no bit, for all source rows that stages read and
// all sizes of their results.

#include "base/threads.hpp"
#include "lab/stage_samples.hpp"
#include "pipeline/execute/band_executor.hpp"
#include "pipeline/execute/band_feed.hpp"
#include "stages/geometry/geometry.hpp"
#include "support/instruction_sets.hpp"
#include "support/naive_stages.hpp"
#include "support/random_chains.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

// The rows `first` to `last` of a picture, in steps of `step`.
class EveryRow final : public OneStepStage {
 public:
  EveryRow(int first, int step) : first_(first), step_(step) {}
  [[nodiscard]] std::string name() const override { return "rows"; }
  [[nodiscard]] std::string key() const override { return "rows"; }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    return {{"rows", 1e-9, 1e-9}, 1};
  }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    const int height = (input.size.height - first_ + step_ - 1) / step_;
    return {{input.size.width, height}, input.format};
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize /*source*/) const override {
    return {first_ + target.begin * step_, first_ + (target.end - 1) * step_ + 1};
  }
  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    for (int y = target.rows.begin; y < target.rows.end; ++y) {
      ASSERT_LT(first_ + y * step_, sizes.source.height);
      ASSERT_TRUE(source.rows.contains({first_ + y * step_, first_ + y * step_ + 1}));
      std::copy_n(source.row(first_ + y * step_), target.pitch, target.row(y));
    }
  }

 private:
  int first_;
  int step_;
};

Image rows_of(const Image& image, int first, int step) {
  const int height = (image.size().height - first + step - 1) / step;
  Image result({image.size().width, height}, image.format());
  for (int y = 0; y < height; ++y)
    std::copy_n(image.rows().row(first + y * step), image.pitch(), result.rows().row(y));
  return result;
}

std::shared_ptr<const Stage> blur(Border border) {
  return make_blur({.border = border});
}

// One stage after the other, each over the whole picture.
Image one_by_one(const Image& image, const StageChain& chain) {
  Image result = copy_of(image);
  for (const auto& stage : chain)
    result = filter_on_host(result, {stage}, {.band_rows = 1'000'000});
  return result;
}

void expect_the_same_in_bands(const Image& image, const StageChain& chain, const Image& expected,
                              const std::string& what) {
  for (const int rows : {1, 2, 5, 16, 33, 64, 1000}) {
    ASSERT_TRUE(same_pixels(filter_on_host(image, chain, {.band_rows = rows}), expected))
        << what << ", bands of " << rows;
  }
}

// A wrapping border needs rows past the edge of an earlier stage's result; that stage's own border
// still is at the picture's edge.
TEST(HostExecutor, EveryStageHasItsOwnBorder) {
  for (const int height : {1, 2, 3, 40}) {
    const Image image = random_image({19, height}, {3, 8}, 3);
    for (const auto& [first, second, third] : each_of(all_borders, all_borders, all_borders)) {
      const Image expected = naive_blur(
          naive_blur(naive_blur(image, first, AlphaMode::weighted), second, AlphaMode::weighted),
          third, AlphaMode::weighted);
      expect_the_same_in_bands(image, {blur(first), blur(second), blur(third)}, expected,
                               ::testing::PrintToString(std::array{first, second, third}) + " of " +
                                   std::to_string(height) + " rows");
    }
  }
}

TEST(HostExecutor, StripsAndPartsChangeNoBit) {
  const auto sepia = make_color(to_matrix({{0.4, 0.8, 0.2}, {0.3, 0.7, 0.2}, {0.3, 0.5, 0.1}}), "");
  const StageChain chain{sepia, blur(Border::mirror), make_levels({16, false}, {235, false}),
                         blur(Border::replicate), blur(Border::wrap)};
  for (const PixelFormat format : {PixelFormat{3, 8}, {4, 16}}) {
    // Wide enough for strips of a few rows.
    const Image image = random_image({9001, 150}, format, 4);
    const Image expected = one_by_one(image, chain);
    for (const std::size_t threads : {1U, 2U, 5U}) {
      const ThreadLimit limit(threads);
      ASSERT_TRUE(same_pixels(filter_on_host(image, chain, {}), expected));
      ASSERT_TRUE(same_pixels(filter_on_host(image, chain, {.band_rows = 70}), expected));
    }
  }
}

// Look-ups change rows where they are: those between two stages, past the picture's edges, of the
// result, but never those of the source.
TEST(HostExecutor, LookupsInPlaceChangeNoBit) {
  const auto sepia = make_color(to_matrix({{0.4, 0.8, 0.2}, {0.3, 0.7, 0.2}, {0.3, 0.5, 0.1}}), "");
  const auto levels = make_levels({16, false}, {235, false});
  const auto brighter =
      make_luma_scaling({"brighter", "", [](const PixelFormat& format) {
                           return std::vector<float>(format.max_sample() + 1, 1.7F);
                         }});
  const auto part = crop_stage_kind().make("8000x120+31+7");
  for (const PixelFormat format : {PixelFormat{3, 8}, {4, 16}}) {
    const Image image = random_image({8100, 150}, format, 4);
    for (const StageChain& chain : {StageChain{sepia, levels, brighter},
                                    {levels, brighter, blur(Border::wrap)},
                                    {part, levels, brighter},
                                    {blur(Border::wrap), levels, brighter, blur(Border::wrap)},
                                    {brighter, part, levels}}) {
      const Image expected = one_by_one(image, chain);
      for (const int rows : {31, 1000}) {
        ASSERT_TRUE(same_pixels(filter_on_host(image, chain, {.band_rows = rows}), expected))
            << chain.front()->name() << " first, " << to_string(format) << ", bands of " << rows;
      }
    }
    ASSERT_TRUE(same_pixels(image, random_image({8100, 150}, format, 4)));
  }
}

TEST(HostExecutor, StagesMayChangeTheHeight) {
  const Image image = random_image({300, 101}, {3, 8}, 5);
  for (const auto& [first, step] : {std::pair{0, 2}, {3, 1}, {7, 3}, {100, 1}}) {
    const auto rows = std::make_shared<EveryRow>(first, step);
    for (const Border border : all_borders) {
      const StageChain chain{blur(border), rows, blur(border)};
      const Image expected =
          naive_blur(rows_of(naive_blur(image, border, AlphaMode::weighted), first, step), border,
                     AlphaMode::weighted);
      expect_the_same_in_bands(image, chain, expected,
                               std::to_string(first) + " by " + std::to_string(step));
    }
  }
}

TEST(HostExecutor, MeasuresWhatThePassesMake) {
  const Image image = random_image({700, 150}, {4, 8}, 6);
  const StageChain chain{blur(Border::wrap), blur(Border::replicate)};
  for (const auto& [quantity, some] :
       each_of(std::array{Quantity::totals, Quantity::channel_histograms, Quantity::luma_histogram},
               std::vector<StageChain>{{}, {chain.front()}, chain})) {
    Plan plan = make_plan({image.size(), image.format()}, some, {.band_rows = 70});
    plan.measure = quantity;
    PictureStatistics expected = no_statistics(image.format(), quantity);
    const Image filtered = some.empty() ? copy_of(image) : one_by_one(image, some);
    add_pixels(expected, filtered.rows());
    Timeline timeline;
    const auto executor = make_host_executor(plan, &timeline);
    ImageReader reader(image);
    ImagePool pool;
    BandFeed feed(reader, plan, pool);
    for (const RowRange& band : plan.bands())
      executor->measure(feed.next(band)->rows(), band);
    EXPECT_EQ(executor->statistics(), expected);
  }
}

StageChain blurs(std::size_t count, Border border = Border::replicate) {
  return StageChain(count, make_blur({.border = border}));
}

TEST(Plan, AddsHalosBackwardsAlongTheChain) {
  const Plan plan = make_plan({{100, 50}, {3, 8}}, blurs(3), {.band_rows = 10});
  const auto windows = plan.windows({20, 30});
  const std::vector<RowRange> expected{{17, 33}, {18, 32}, {19, 31}, {20, 30}};
  EXPECT_EQ(windows, expected);
}

TEST(Plan, ClipsWindowsToThePicture) {
  const Plan plan = make_plan({{100, 50}, {3, 8}}, blurs(2), {.band_rows = 10});
  EXPECT_EQ(plan.windows({0, 10}).front(), (RowRange{0, 12}));
  EXPECT_EQ(plan.windows({40, 50}).front(), (RowRange{38, 50}));
}

TEST(Plan, ReachesPastThePictureWhereItWrapsAndBandsCoverEveryRowOnce) {
  const Plan plan = make_plan({{100, 50}, {3, 8}}, blurs(2, Border::wrap), {.band_rows = 10});
  EXPECT_EQ(plan.windows({0, 10}).front(), (RowRange{-2, 12}));
  EXPECT_EQ(plan.windows({40, 50}).front(), (RowRange{38, 52}));
  for (const int height : {1, 9, 10, 11, 50}) {
    const Plan plan = make_plan({{7, height}, {1, 8}}, StageChain{}, {.band_rows = 10});
    int next = 0;
    for (const RowRange& band : plan.bands()) {
      EXPECT_EQ(band.begin, next);
      EXPECT_GT(band.count(), 0);
      EXPECT_LE(band.count(), 10);
      next = band.end;
    }
    EXPECT_EQ(next, height);
  }
}

TEST(Plan, KeepsEveryBufferWithinTheLargestAllocation) {
  const PixelFormat format{4, 16};
  const std::uint64_t row = row_pitch(1000, format);
  for (const std::uint64_t rows : {5U, 6U, 100U}) {
    const Plan plan = make_plan({{1000, 400}, format}, blurs(2), {.max_buffer = rows * row});
    EXPECT_LE(plan.largest_buffer(plan.band_rows), rows * row);
    EXPECT_EQ(plan.band_rows, static_cast<int>(rows) - 4);
  }
}

TEST(Plan, AskedForRowsDoNotOutgrowTheLargestAllocation) {
  const PixelFormat format{1, 8};
  const Plan plan = make_plan({{64, 400}, format}, blurs(1), {.max_buffer = 640, .band_rows = 300});
  EXPECT_EQ(plan.band_rows, 8);
}

DeviceInfo plain_gpu() {
  DeviceInfo device;
  device.kind = DeviceKind::gpu;
  return device;
}
const DeviceInfo some_gpu = plain_gpu();

// The input and the result of a band on the host, and the same on the device, with the picture's
// rows and the halo of two blurs.
std::uint64_t memory_of_band(std::uint64_t row, int rows) {
  return 4 * row * static_cast<std::uint64_t>(rows + 4);
}

TEST(Plan, MemoryHoldsThreeBands) {
  const PixelFormat format{4, 8};
  const std::uint64_t row = row_pitch(1000, format);
  for (const int rows : {16, 17, 100}) {
    const std::uint64_t memory = 3 * memory_of_band(row, rows);
    for (const std::uint64_t bytes : {memory, memory + 3 * row}) {
      const Plan plan =
          make_plan({{1000, 4000}, format}, blurs(2),
                    {.target_buffer = UINT64_MAX, .max_memory = bytes, .device = &some_gpu});
      EXPECT_EQ(plan.band_rows, rows);
      EXPECT_LE(3 * plan.band_memory(plan.band_rows), bytes);
    }
  }
}

TEST(Plan, WhereMemoryIsShortFewerBandsGoBeforeLowerOnes) {
  const PixelFormat format{4, 8};
  const std::uint64_t row = row_pitch(1000, format);
  const auto rows_within = [&](std::uint64_t bytes) {
    return make_plan({{1000, 4000}, format}, blurs(2), {.max_memory = bytes, .device = &some_gpu})
        .band_rows;
  };
  EXPECT_EQ(rows_within(3 * memory_of_band(row, 16)), 16);
  EXPECT_EQ(rows_within(2 * memory_of_band(row, 20)), 20) << "two at a time";
  EXPECT_EQ(rows_within(memory_of_band(row, 16)), 16) << "one at a time";
  EXPECT_EQ(rows_within(memory_of_band(row, 16) - 1), 15);
  EXPECT_EQ(rows_within(memory_of_band(row, 1)), 1);
  EXPECT_EQ(rows_within(1), 1) << "there has to be a band";
}

// The input with its halo twice, and the rows that the second blur reads of the first.
TEST(Plan, BandsOfTheProcessorTakeNoMemoryOfADevice) {
  const PixelFormat format{4, 8};
  const std::uint64_t row = row_pitch(1000, format);
  const std::uint64_t memory = 3 * (2 * row * (100 + 4) + 3 * row);
  const PlanLimits limits{.target_buffer = UINT64_MAX, .max_memory = memory};
  EXPECT_EQ(make_plan({{1000, 4000}, format}, blurs(2), limits).band_rows, 100);
}

TEST(Plan, BandsAreSeveralTimesAsHighAsTheirHalo) {
  // 60 rows above and below. With 16 bits it has two steps on every processor.
  const StageChain chain{make_gaussian({.sigma = 20})};
  const auto rows = [&](std::uint64_t memory) {
    return make_plan({{1000, 4000}, {1, 16}}, chain, {.target_buffer = 1, .max_memory = memory})
        .band_rows;
  };
  EXPECT_EQ(make_plan({{1000, 4000}, {1, 16}}, chain).halo(), 120);
  EXPECT_EQ(rows(UINT64_MAX), 8 * 120);
  const std::uint64_t row = row_pitch(1000, {1, 16});
  const std::uint64_t between = 121 * row_pitch(1000, {1, 32});
  EXPECT_EQ(rows(3 * (2 * row * (400 + 120) + between)), 400) << "memory is the limit";
  EXPECT_EQ(rows(2 * (2 * row * (370 + 120) + between)), 370) << "not below three halos";
  EXPECT_EQ(rows(2 * row * (90 + 120) + between), 90) << "one at a time";
}

TEST(Plan, MemoryThatIsThereIsNotFilled) {
  const Plan plan =
      make_plan({{1000, 4000}, {4, 8}}, blurs(2), {.target_buffer = 40 * row_pitch(1000, {4, 8})});
  EXPECT_EQ(plan.band_rows, 36);
}

TEST(Plan, AskedForRowsAreMadeWhateverTheyTakeAndRefusesRowsThatNoBufferHolds) {
  const Plan plan =
      make_plan({{1000, 4000}, {4, 8}}, blurs(2), {.max_memory = 1, .band_rows = 300});
  EXPECT_EQ(plan.band_rows, 300);
  EXPECT_THROW(static_cast<void>(make_plan({{64, 400}, {1, 8}}, blurs(1), {.max_buffer = 191})),
               DeviceError);
  EXPECT_NO_THROW(static_cast<void>(make_plan({{64, 400}, {1, 8}}, blurs(1), {.max_buffer = 192})));
}

// Many times larger than the simulated limit of the device, on the real device.
TEST(Plan, PicturesLargerThanTheLargestAllocationAreExact) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const Image image = random_image({1001, 257}, {3, 8}, 7);
  const Image expected = filter_on_host(image, blurs(2), {});
  for (const auto& session : all_sessions()) {
    const Image result = filter_on_device(*session, image, blurs(2), {.max_buffer = 20'000});
    EXPECT_TRUE(same_pixels(result, expected)) << session->device().name;
  }
}

// Loops work on tiles of columns. No pixel may show where a tile ends.

// More columns than any tile has, whatever a pixel takes.
constexpr ImageSize wide_size{4300, 2};
// More columns than any stage reads on one side of a pixel: --close 127.
constexpr int margin = 254;
constexpr int compared = 130;

Image columns_of(const Image& image, int begin, int count) {
  Image columns({count, image.size().height}, image.format());
  for (int y = 0; y < image.size().height; ++y) {
    const std::size_t pixel = image.format().bytes_per_pixel();
    std::copy_n(image.rows().row(y) + static_cast<std::size_t>(begin) * pixel,
                static_cast<std::size_t>(count) * pixel, columns.rows().row(y));
  }
  return columns;
}

// Whether a pixel of its result depends on its neighbours alone, not on its place.
bool is_the_same_everywhere(const std::shared_ptr<const Stage>& stage, const PixelFormat& format) {
  constexpr std::array<std::string_view, 7> by_place{
      "affine", "auto-orient", "flop", "overlay", "perspective", "rotate", "vignette"};
  if (std::find(by_place.begin(), by_place.end(), stage->name()) != by_place.end()) return false;
  if (stage->traits().measures || stage->traits().keeps_picture) return false;
  try {
    const PictureShape wide{wide_size, format};
    // Some stages have nothing to do with grey pictures.
    return result_of(stage, wide).size == wide_size &&
           !make_plan(wide, StageChain{stage}, {}).passes.empty();
  } catch (const UsageError&) {
    return false;
  }
}

void compare_with_parts(const std::shared_ptr<const Stage>& stage, const PixelFormat& format) {
  const Image picture =
      format.has_alpha() ? cut_out_image(wide_size, format, 5) : random_image(wide_size, format, 5);
  const Image whole = filter_on_host(picture, {stage}, {});
  for (const int begin : {margin, 1300, 2700, wide_size.width - margin - compared}) {
    const Image part = columns_of(picture, begin - margin, compared + 2 * margin);
    const Image filtered = filter_on_host(part, {stage}, {});
    EXPECT_TRUE(
        same_pixels(columns_of(whole, begin, compared), columns_of(filtered, margin, compared)))
        << "columns from " << begin;
  }
}

TEST(WidePictures, AreLikeTheirPartsInEveryStage) {
  with_each_instruction_set([] {
    for (const StageKind& kind : stage_catalogue()) {
      for (const auto& [sample, format] : each_of(lab::samples_of(kind, false), all_formats())) {
        if (!is_the_same_everywhere(sample.stage, format)) continue;
        const ::testing::ScopedTrace trace(__FILE__, __LINE__,
                                           sample.text + ", " + to_string(format));
        compare_with_parts(sample.stage, format);
      }
    }
  });
}

// Memory of stages on a device besides the rows: networks too wide for their own kernel.

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;

std::shared_ptr<const Stage> wide_network(int width) {
  return make_mlp(Chains(5).network({3, width, width, 3}));
}

DeviceInfo gpu_of_a_gibibyte() {
  DeviceInfo device;
  device.kind = DeviceKind::gpu;
  device.max_allocation = 1024 * mebibyte;
  return device;
}

TEST(ScratchMemory, CountsAmongWhatBandsTake) {
  const DeviceInfo gpu = gpu_of_a_gibibyte();
  const PictureShape picture{{4000, 4000}, {3, 8}};
  for (const auto& [memory, networks] :
       each_of(std::vector<std::uint64_t>{12 * mebibyte, 48 * mebibyte, 96 * mebibyte},
               std::array{1, 2})) {
    const StageChain chain(static_cast<std::size_t>(networks), wide_network(256));
    const Plan plan = make_plan(picture, chain, {.max_memory = memory, .device = &gpu});
    EXPECT_GT(plan.scratch, memory / 7);
    EXPECT_LE(plan.scratch, memory / 6) << "half of a band's share";
    EXPECT_LE(3 * plan.band_memory(plan.band_rows), memory);
    EXPECT_GE(plan.band_rows, 16);
  }
}

TEST(ScratchMemory, IsNoMoreThanSuitsTheStage) {
  const DeviceInfo gpu = gpu_of_a_gibibyte();
  const auto scratch = [&](ImageSize size, const std::shared_ptr<const Stage>& stage,
                           const DeviceInfo* device) {
    return make_plan({size, {3, 8}}, {stage}, {.device = device}).scratch;
  };
  EXPECT_EQ(scratch({4000, 4000}, wide_network(256), &gpu), 128 * mebibyte);
  EXPECT_EQ(scratch({10, 10}, wide_network(256), &gpu), 100U * 256 * 2 * sizeof(float));
  EXPECT_EQ(scratch({4000, 4000}, wide_network(256), nullptr), 0U) << "the processor needs none";
  EXPECT_EQ(scratch({4000, 4000}, wide_network(16), &gpu), 0U) << "it has a kernel of its own";
  DeviceInfo small = gpu;
  small.max_allocation = mebibyte;
  EXPECT_EQ(scratch({4000, 4000}, wide_network(256), &small), 2 * mebibyte);
  EXPECT_GT(
      make_plan({{4000, 4000}, {3, 8}}, {wide_network(256)}, {.max_memory = 1, .device = &gpu})
          .scratch,
      0U)
      << "some it has to have";
}

TEST(ScratchMemory, ChangesNoBit) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const StageChain chain{wide_network(160)};
  const Image image = random_image({131, 37}, {4, 8}, 5);
  const Image expected = filter_on_host(image, chain, {});
  for (Session* session : kernel_sessions()) {
    for (const std::uint64_t memory : {std::uint64_t{1}, mebibyte, 100 * mebibyte}) {
      ASSERT_TRUE(
          same_pixels(filter_on_device(*session, image, chain,
                                       {.max_memory = memory, .device = &session->device()}),
                      expected))
          << session->device().name << ", " << memory;
    }
  }
}

}  // namespace
}  // namespace gpufilter::test

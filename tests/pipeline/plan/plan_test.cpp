#include "pipeline/plan/plan.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "stages/gaussian/gaussian.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

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

TEST(Plan, ReachesPastThePictureWhereItWraps) {
  const Plan plan = make_plan({{100, 50}, {3, 8}}, blurs(2, Border::wrap), {.band_rows = 10});
  EXPECT_EQ(plan.windows({0, 10}).front(), (RowRange{-2, 12}));
  EXPECT_EQ(plan.windows({40, 50}).front(), (RowRange{38, 52}));
}

TEST(Plan, BandsCoverEveryRowOnce) {
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

TEST(Plan, AskedForRowsAreMadeWhateverTheyTake) {
  const Plan plan =
      make_plan({{1000, 4000}, {4, 8}}, blurs(2), {.max_memory = 1, .band_rows = 300});
  EXPECT_EQ(plan.band_rows, 300);
}

TEST(Plan, RefusesRowsThatNoBufferHolds) {
  EXPECT_THROW(static_cast<void>(make_plan({{64, 400}, {1, 8}}, blurs(1), {.max_buffer = 191})),
               DeviceError);
  EXPECT_NO_THROW(static_cast<void>(make_plan({{64, 400}, {1, 8}}, blurs(1), {.max_buffer = 192})));
}

// Many times larger than the simulated limit of the device, on the real device.
TEST(Plan, PicturesLargerThanTheLargestAllocationAreExact) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const Image image = test::random_image({1001, 257}, {3, 8}, 7);
  const Image expected = test::filter_on_host(image, blurs(2), {});
  for (const auto& session : test::all_sessions()) {
    const Image result = test::filter_on_device(*session, image, blurs(2), {.max_buffer = 20'000});
    EXPECT_TRUE(test::same_pixels(result, expected)) << session->device().name;
  }
}

}  // namespace
}  // namespace gpufilter

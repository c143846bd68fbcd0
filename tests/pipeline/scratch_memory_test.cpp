// Memory that stages take on a device beside the rows: networks that are too wide for a kernel of
// their own.
#include <gtest/gtest.h>

#include "net/pixel/mlp.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"
#include "support/random_chains.hpp"

namespace gpufilter {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;

std::shared_ptr<const Stage> wide_network(int width) {
  return make_mlp(test::Chains(5).network({3, width, width, 3}));
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
  for (const std::uint64_t memory : {12 * mebibyte, 48 * mebibyte, 96 * mebibyte}) {
    for (const int networks : {1, 2}) {
      const StageChain chain(static_cast<std::size_t>(networks), wide_network(256));
      const Plan plan = make_plan(picture, chain, {.max_memory = memory, .device = &gpu});
      EXPECT_GT(plan.scratch, memory / 7);
      EXPECT_LE(plan.scratch, memory / 6) << "half of a band's share";
      EXPECT_LE(3 * plan.band_memory(plan.band_rows), memory);
      EXPECT_GE(plan.band_rows, 16);
    }
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
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const StageChain chain{wide_network(160)};
  const Image image = test::random_image({131, 37}, {4, 8}, 5);
  const Image expected = test::filter_on_host(image, chain, {});
  for (Session* session : test::kernel_sessions()) {
    for (const std::uint64_t memory : {std::uint64_t{1}, mebibyte, 100 * mebibyte}) {
      ASSERT_TRUE(test::same_pixels(
          test::filter_on_device(*session, image, chain,
                                 {.max_memory = memory, .device = &session->device()}),
          expected))
          << session->device().name << ", " << memory;
    }
  }
}

}  // namespace
}  // namespace gpufilter

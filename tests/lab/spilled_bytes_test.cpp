// In which order "gpufilter tune" tries candidates, and which it warns of.
#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "lab/bench/report.hpp"
#include "lab/tune/tuner.hpp"

namespace gpufilter::lab {
namespace {

TEST(SpilledBytes, AreThoseOfTheWorstKernel) {
  std::vector<KernelFigures> kernels(4);
  EXPECT_EQ(spilled_bytes({}), 0U);
  EXPECT_EQ(spilled_bytes(kernels), 0U) << "unknown";
  kernels[1].compiled = CompilerFigures{255, 136};
  kernels[2].compiled = CompilerFigures{255, 8};
  kernels[3].limits.private_bytes = 1000;  // an array, perhaps: no spill
  EXPECT_EQ(spilled_bytes(kernels), 136U);
}

TEST(TryingOrder, HasEachCandidateOnceAndTheUsualOneFirst) {
  EXPECT_EQ(trying_order(1), (std::vector<std::size_t>{0}));
  EXPECT_EQ(trying_order(2), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(trying_order(8), (std::vector<std::size_t>{0, 5, 2, 7, 4, 1, 6, 3}));
  for (std::size_t count = 1; count < 300; ++count) {
    const std::vector<std::size_t> order = trying_order(count);
    ASSERT_EQ(order.front(), 0U);
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), count);
    EXPECT_EQ(*std::max_element(order.begin(), order.end()), count - 1);
  }
}

TEST(ResourceColumns, HoldTheHighestFigures) {
  std::vector<KernelFigures> kernels(2);
  Row row;
  add_resources(row, kernels, 65536);
  EXPECT_TRUE(row.empty()) << "nothing is known";
  kernels[0].compiled = CompilerFigures{128, 0};
  kernels[0].limits.stated_group = 256;
  kernels[1].compiled = CompilerFigures{40, 16};
  kernels[1].limits.private_bytes = 24;
  kernels[1].limits.stated_group = 32;
  add_resources(row, kernels, 65536);
  EXPECT_EQ(number_in(row, "registers"), 128);
  EXPECT_EQ(number_in(row, "spilled_bytes"), 16);
  EXPECT_EQ(number_in(row, "private_bytes"), 24);
  EXPECT_EQ(number_in(row, "resident_groups"), 2) << "of the kernel with the fewest";
}

}  // namespace
}  // namespace gpufilter::lab

// Which candidates "gpufilter tune" warns of.
#include <vector>

#include <gtest/gtest.h>

#include "lab/bench/resource_columns.hpp"
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

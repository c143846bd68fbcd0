// The blocks of C that blocked matrix products are computed in.
#include <array>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "compute/matrix_product.hpp"
#include "support/filtering.hpp"
#include "support/matrix_problems.hpp"

namespace gpufilter {
namespace {

using test::blocked_for;
using test::gives_the_defined_bits;
using test::make_problem;
using test::Values;

// Shapes that the kernels treat differently: few rows, few and many blocks.
constexpr std::array typical_shapes{MatrixShape{16, 1, 1}, MatrixShape{32, 1, 1},
                                    MatrixShape{64, 1, 1}, MatrixShape{65, 65, 1},
                                    MatrixShape{9999, 9999, 1}};

// The smallest shapes and all around the sides of blocks, and several rows of blocks side by side.
TEST(MatrixBlocks, OfEveryShapeGiveTheBitsOfTheDefinition) {
  for (Session* session : test::kernel_sessions()) {
    for (const MatrixShape& typical : typical_shapes) {
      const MatrixProduct product(*session, blocked_for(typical));
      std::uint64_t seed = 20;
      for (const MatrixShape& shape : {MatrixShape{127, 255, 7},
                                       {128, 256, 8},
                                       {129, 257, 9},
                                       {260, 516, 20},
                                       {1300, 66, 12},
                                       {63, 129, 16},
                                       {65, 132, 24},
                                       {16, 1028, 4},
                                       {2, 2, 3},
                                       {3, 4, 4}}) {
        ASSERT_TRUE(gives_the_defined_bits(
            *session, product,
            make_problem(shape, Values::all_bits, Activation::none, true, seed++)));
      }
    }
  }
}

class MatrixBlocksOnSmallDevices : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  }
  // This machine's device as a GPU with less room.
  static DeviceInfo device(std::size_t work_items, std::uint64_t local_bytes) {
    DeviceInfo device = test::all_sessions().front()->device();
    device.kind = DeviceKind::gpu;
    device.max_work_group_size = work_items;
    device.local_memory = local_bytes;
    return device;
  }
};

TEST_F(MatrixBlocksOnSmallDevices, AreSmallerAndGiveTheSameBits) {
  struct Limits {
    std::size_t work_items;
    std::uint64_t local_bytes;
  };
  for (const Limits& limits : {Limits{1024, 32768}, {1024, 16384}, {128, 32768}, {64, 10240}}) {
    Session small(device(limits.work_items, limits.local_bytes), std::nullopt);
    for (const MatrixShape& typical : typical_shapes) {
      SCOPED_TRACE(testing::Message() << limits.work_items << " work-items, " << limits.local_bytes
                                      << " bytes, " << typical.rows << " rows");
      const MatrixBlock block = block_for(small.device(), typical);
      EXPECT_LE(block.items(), limits.work_items);
      EXPECT_LE(block.local_bytes(), limits.local_bytes);
      const MatrixProduct product(small, blocked_for(typical));
      ASSERT_TRUE(gives_the_defined_bits(
          small, product, make_problem({35, 67, 9}, Values::all_bits, Activation::none, true, 3)));
      EXPECT_EQ(MatrixProduct(small, {.typical = typical}).variant(), product.variant());
    }
  }
}

TEST_F(MatrixBlocksOnSmallDevices, AreTheLargestThatFit) {
  const MatrixShape few_rows{16, 1, 1};
  EXPECT_EQ(block_for(device(1024, 49152), few_rows).columns, 256U);
  EXPECT_EQ(block_for(device(1024, 32768), few_rows).columns, 128U);
  const MatrixShape large{9999, 9999, 1};
  EXPECT_EQ(block_for(device(256, 32768), large).rows, 128U);
  EXPECT_EQ(block_for(device(128, 32768), large).rows, 64U);
  EXPECT_EQ(block_for(device(64, 32768), large).rows, 32U);
}

TEST_F(MatrixBlocksOnSmallDevices, AreRefusedIfNoneFits) {
  Session small(device(1024, 4096), std::nullopt);
  EXPECT_THROW(MatrixProduct(small, blocked_for({64, 64, 1})), UsageError);
  EXPECT_EQ(MatrixProduct(small, MatrixParameters{}).variant(), "tiled 16x16");
}

}  // namespace
}  // namespace gpufilter
